// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/OwnSpecialization.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

using testing::HasSubstr;

/// The specialization of a kernel `k` in this text, or why there is none.
std::string own(const std::string &text, const std::string &expression, bool isInline = false) {
  setenv("KOPT_CUDA_PATH", "none", 1);
  const std::string before = "#include <cuda_runtime.h>\n#define KOPT_TUNE(...)\n#define NAMED k\n"
                             "struct S { int N; }; __device__ S s;\n";
  SpecializeRequest request;
  request.source.slice = before + text + "\nauto *instance = &" + expression + ";\n";
  request.source.kernel = "k";
  request.source.expression = expression;
  request.source.flags = {"-std=c++20"};
  request.source.directory = "/tmp";
  request.source.arch = "sm_90";
  request.chunk = {before.size(), before.size() + text.size()};
  request.isInline = isInline;
  const ChunkReply reply = llvm::cantFail(specializeKernel(request));
  EXPECT_NE(reply.text.empty(), reply.refusal.empty());
  return reply.text + reply.refusal;
}

TEST(OwnSpecialization, IsWhatAPersonWouldWrite) {
  EXPECT_EQ(own("// Scales.\ntemplate <typename T, int N = (4 > 2)>\n"
                "__global__ void __launch_bounds__(N) KOPT_TUNE(param N in {8, 16}) k(T *out, int "
                "n) {\n"
                "  T x = out[0]; // N > 3\n"
                "  if (n < N) out[n] = s.N + x;\n"
                "}",
                "k<float, 32>"),
            "template <>\n"
            "__global__ void __launch_bounds__(32) k<float, 32>(float *out, int n) {\n"
            "  using T = float;\n"
            "  constexpr int N = 32;\n"
            "  T x = out[0]; // N > 3\n"
            "  if (n < N) out[n] = s.N + x;\n"
            "}");
}

TEST(OwnSpecialization, NamesThatTheBodyDoesNotUseAreLeftOut) {
  EXPECT_EQ(own("template<int BLOCK> [[kopt::tune(\"seed 1\")]] __global__ void k() {}", "k<64>"),
            "template <>\n__global__ void k<64>() {}");
}

TEST(OwnSpecialization, TheStorageClassIsTheTemplates) {
  for (const bool isInline : {false, true})
    EXPECT_EQ(
        own("template <int N>\nstatic __global__ void k(int n) { n = N; }", "k<64>", isInline),
        "template <>\n__global__ void k<64>(int n) {\n  constexpr int N = 64; n = N; }");
}

TEST(OwnSpecialization, MayBeInline) {
  EXPECT_EQ(own("template <int N> __global__ void k() {}", "k<64>", true),
            "template <>\ninline __global__ void k<64>() {}");
  EXPECT_EQ(own("template <int N> inline __global__ void k() {}", "k<64>", true),
            "template <>\ninline __global__ void k<64>() {}");
}

TEST(OwnSpecialization, WhatItDoesNotKnowItRefuses) {
  EXPECT_THAT(own("__global__ void k() { }", "k"), HasSubstr("not a template"));
  EXPECT_THAT(own("template <class... T> __global__ void k(T... x) {}", "k<int>"),
              HasSubstr("a parameter pack or constraints"));
  EXPECT_THAT(own("template <class T> requires true __global__ void k(T x) {}", "k<int>"),
              HasSubstr("a parameter pack or constraints"));
  EXPECT_THAT(own("template <class> __global__ void k(int x) {}", "k<int>"),
              HasSubstr("a parameter without a name"));
  EXPECT_THAT(own("template <class T> __global__ void NAMED(T x) {}", "k<int>"),
              HasSubstr("a macro"));
  EXPECT_NE(own("template <class T> __global__ void k(T x);", "k<int>"), "");
  EXPECT_NE(own("template <", "k<int>"), "");
}

} // namespace
} // namespace kopt::frontend
