// SPDX-License-Identifier: Apache-2.0
#include "driver/source/KernelNames.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(KernelNames, AsPeopleWriteThem) {
  EXPECT_EQ(kernelName("_Z5scalePfPKfi"), "scale");
  EXPECT_EQ(kernelName("_ZN2ns5scaleIfLi4EEEvPT_PKS1_i"), "ns::scale<float, 4>");
  EXPECT_EQ(kernelName("_ZN12_GLOBAL__N_11kEPf"), "k");
  EXPECT_EQ(kernelName("_Z1fIXadL_Z1gvEEEvPFvvE"), "f<&(g())>");
  EXPECT_EQ(kernelName("plain_c_name"), "plain_c_name");
  EXPECT_TRUE(namesKernel("scale", "_ZN2ns5scaleIfLi4EEEvPT_PKS1_i"));
  EXPECT_TRUE(namesKernel("ns::scale", "_ZN2ns5scaleIfLi4EEEvPT_PKS1_i"));
  EXPECT_TRUE(namesKernel("sca*", "_Z5scalePfPKfi"));
  EXPECT_FALSE(namesKernel("cale", "_Z5scalePfPKfi"));
}

TEST(KernelNames, AOneLetterNameIsNotAType) {
  EXPECT_EQ(kernelName("i"), "i");
  EXPECT_TRUE(namesKernel("f", "f"));
}

TEST(KernelNames, OnePatternMeansTheSymbolTheInstantiationAndBothNames) {
  const std::string symbol = "_ZN2ns5scaleIfLi4EEEvPT_PKS1_i"; // ns::scale<float, 4>
  for (const char *pattern : {"_ZN2ns5scaleIfLi4EEEvPT_PKS1_i", "ns::scale<float, 4>",
                              "ns::scale<float,4>", "scale<float, 4>", "scale<float*", "ns::scale",
                              "ns::s*", "scale", "s[bc]ale", "*", "scale<*4>"})
    EXPECT_TRUE(namesKernel(pattern, symbol)) << pattern;
  for (const char *pattern : {"", "cale", "other::scale", "s[!c]ale", "scale<double*", "float, 4>"})
    EXPECT_FALSE(namesKernel(pattern, symbol)) << pattern;
}

TEST(KernelNames, AnInstantiationIsNamedAsTheSourceSpellsIt) {
  KernelSpec kernel;
  kernel.name = "ns::scale";
  Specialization floats, doubles;
  floats.symbol = "_ZN2ns5scaleIfLi4EEEvPT_PKS1_i";
  floats.expression = "ns::scale<Real, kWidth>";
  doubles.symbol = "_ZN2ns5scaleIdLi4EEEvPT_PKS1_i";
  doubles.expression = "ns::scale<double, kWidth>";
  for (const char *pattern : {"scale", "ns::*", "scale<float*", "scale<Real, *"})
    EXPECT_TRUE(namesKernel(pattern, kernel, &floats)) << pattern;
  for (const char *pattern : {"scale<double*", "ns::scale<d*"}) {
    EXPECT_TRUE(namesKernel(pattern, kernel, &doubles)) << pattern;
    EXPECT_FALSE(namesKernel(pattern, kernel, &floats)) << pattern;
    EXPECT_FALSE(namesKernel(pattern, kernel, nullptr)) << pattern;
  }
  EXPECT_TRUE(namesKernel("scale", kernel, nullptr));
}

} // namespace
} // namespace kopt
