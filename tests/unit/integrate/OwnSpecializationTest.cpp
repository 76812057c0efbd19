// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/compose/OwnSpecialization.h"
#include "tests/fakes/Results.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(OwnSpecialization, IsWhatAPersonWouldWrite) {
  const auto made = must(explicitSpecialization(
      "template <typename T, int N = (4 > 2)>\n"
      "__global__ void __launch_bounds__(N) KOPT_TUNE(param N in {8, 16}) scale(T *out, int n) {\n"
      "  T x = out[0]; // N > 3\n"
      "  if (n < N) out[n] = s.N + x;\n"
      "}",
      "scale", {{"T", "float"}, {"N", "32", true}}, "float, 32"));
  EXPECT_EQ(made, "template <>\n"
                  "__global__ void __launch_bounds__(32) scale<float, 32>(float *out, int n) {\n"
                  "  using T = float;\n"
                  "  constexpr int N = 32;\n"
                  "  T x = out[0]; // N > 3\n"
                  "  if (n < N) out[n] = s.N + x;\n"
                  "}");
}

TEST(OwnSpecialization, NamesThatTheBodyDoesNotUseAreLeftOut) {
  const auto made = must(
      explicitSpecialization("template<int BLOCK> [[kopt::tune(seed 1)]] __global__ void k() {}",
                             "k", {{"BLOCK", "64", true}}, "64"));
  EXPECT_EQ(made, "template <>\n__global__ void k<64>() {}");
}

TEST(OwnSpecialization, TheStorageClassIsTheTemplates) {
  for (const bool isInline : {false, true}) {
    const auto made =
        must(explicitSpecialization("template <int N>\nstatic __global__ void k(int n) { n = N; }",
                                    "k", {{"N", "64", true}}, "64", isInline));
    EXPECT_EQ(made,
              "template <>\n__global__ void k<64>(int n) {\n  constexpr int N = 64; n = N; }");
  }
}

TEST(OwnSpecialization, MayBeInline) {
  const auto in = [](const std::string &storage) {
    return explicitSpecialization("template <int N> " + storage + "__global__ void k() {}", "k",
                                  {{"N", "64", true}}, "64", true)
        .value();
  };
  EXPECT_EQ(in(""), "template <>\ninline __global__ void k<64>() {}");
  EXPECT_EQ(in("inline "), "template <>\ninline __global__ void k<64>() {}");
}

TEST(OwnSpecialization, WhatItDoesNotKnowItRefuses) {
  const std::vector<TemplateArg> one = {{"T", "float"}};
  for (const char *text : {"__global__ void k() { }  // no template",
                           "template <class... T> __global__ void k(T... x) {}",
                           "template <class T> requires true __global__ void k(T x) {}",
                           "template <class> __global__ void k(int x) {}",
                           "template <class T> __global__ void other(T x) {}",
                           "template <class T> __global__ void k(T x);", "template <", ""})
    EXPECT_FALSE(explicitSpecialization(text, "k", one, "float")) << text;
}

} // namespace
} // namespace kopt
