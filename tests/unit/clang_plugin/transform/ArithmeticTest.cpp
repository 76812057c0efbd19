// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Question askArithmetic(std::string slice) {
  return {.technique = "arithmetic", .slice = std::move(slice)};
}

/// A kernel that stores the value of an expression over x, y and the parameter c.
std::string kernelOf(const std::string &expression, const std::string &type = "float") {
  return "__global__ void k(const " + type + " *a, " + type + " *r, " + type + " c) {\n  const " +
         type + " x = a[0], y = a[1];\n  r[0] = " + expression + ";\n}\n";
}

std::string storedBy(const std::string &text) {
  const std::size_t begin = text.find("r[0] = ");
  return begin == text.npos ? text : text.substr(begin + 7, text.find(';', begin) - begin - 7);
}

std::vector<std::string> storedAfter(const std::string &expression,
                                     const std::string &type = "float") {
  std::vector<std::string> values;
  for (const std::string &text : textsFor(askArithmetic(kernelOf(expression, type))))
    values.push_back(storedBy(text));
  return values;
}

TEST(Arithmetic, FunctionsOfFloatsBecomeIntrinsics) {
  EXPECT_THAT(storedAfter("expf(x) + logf(y)"), ElementsAre("__expf(x) + __logf(y)"));
  EXPECT_EQ(titlesFor(askArithmetic(kernelOf("expf(x) + logf(y)"))).front(),
            "intrinsics for expf, logf");
}

TEST(Arithmetic, IntrinsicsThatAreAccurateNearZeroAlsoComeBehindATest) {
  const auto texts = textsFor(askArithmetic(kernelOf("sinf(x)")));
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(storedBy(texts[0]), "__sinf(x)");
  EXPECT_EQ(texts[1], "// The intrinsic, where its argument is small enough for it.\n"
                      "static __device__ __forceinline__ float nearsinf(float x) {\n"
                      "  return fabsf(x) < 512.0f ? __sinf(x) : sinf(x);\n"
                      "}\n\n" +
                          kernelOf("nearsinf(x)"));
  EXPECT_THAT(texts[2], HasSubstr("fabsf(x) < 48.0f"));
}

TEST(Arithmetic, FunctionsOfDoublesStay) {
  EXPECT_THAT(storedAfter("exp(x)", "double"), IsEmpty());
}

TEST(Arithmetic, DivisionsAndFunctionsTogetherAndAlone) {
  EXPECT_THAT(storedAfter("expf(x) / y"),
              ElementsAre("__fdividef(__expf(x), y)", "__expf(x) / y", "__fdividef(expf(x), y)"));
}

TEST(Arithmetic, DivisionsByAParameterOrAConstantBecomeProducts) {
  EXPECT_THAT(storedAfter("x / c"), ElementsAre("x * (1.0f / c)", "x * (1.0f / c)"));
  EXPECT_THAT(storedAfter("x / 3.0f"), ElementsAre("x * (1.0f / 3.0f)", "x * (1.0f / 3.0f)"));
  EXPECT_THAT(storedAfter("x / 3.0", "double"), ElementsAre("x * (1.0 / 3.0)"));
}

TEST(Arithmetic, WhatTheCompilerDoesItselfIsNotOffered) {
  EXPECT_THAT(storedAfter("x / 4.0f"), IsEmpty());
  EXPECT_THAT(storedAfter("x * (1.0f / 3.0f)"), IsEmpty());
}

TEST(Arithmetic, ADivisionWithinAnother) {
  EXPECT_EQ(storedAfter("x / (y / x) / y").front(),
            "__fdividef(__fdividef(x, (__fdividef(y, x))), y)");
}

TEST(Arithmetic, AParameterThatTheKernelChangesIsNotUniform) {
  EXPECT_THAT(textsFor(askArithmetic("__global__ void k(float *r, float c) {\n  c += r[1];\n"
                                     "  r[0] = r[0] / c;\n}\n")),
              ElementsAre(HasSubstr("__fdividef(r[0], c)")));
}

TEST(Arithmetic, PowersAskForSmallWholeExponentsFirst) {
  EXPECT_EQ(textsFor(askArithmetic(kernelOf("powf(x, c)"))).front(),
            "// pow(), without it where the exponent is a small whole number.\n"
            "static __device__ __forceinline__ float power(float x, float exponent) {\n"
            "  if (exponent == 1)\n    return x;\n"
            "  if (exponent == 2)\n    return x * x;\n"
            "  if (exponent == 3)\n    return x * x * x;\n"
            "  if (exponent == 4)\n    return x * x * (x * x);\n"
            "  return powf(x, exponent);\n}\n\n" +
                kernelOf("power(x, c)"));
  EXPECT_EQ(textsFor(askArithmetic(kernelOf("powf(x, c)"))).size(), 1u)
      << "__powf() knows no negative base";
  EXPECT_THAT(textsFor(askArithmetic(kernelOf("pow(x, 2.0)", "double"))),
              ElementsAre(HasSubstr("r[0] = powerd(x, 2.0);")));
  EXPECT_THAT(storedAfter("powf(x, y)"), ElementsAre("__powf(x, y)"))
      << "an exponent that differs between threads is not asked";
}

TEST(Arithmetic, DoubleLiteralsBesideFloats) {
  EXPECT_THAT(storedAfter("x * 0.5 + 1. * y"), Contains("x * 0.5f + 1.0f * y"));
  EXPECT_THAT(
      textsFor(askArithmetic("__global__ void k(float *r, double d) { r[0] = r[1] * 0.5 + d; }\n")),
      IsEmpty())
      << "a kernel with doubles may want them";
}

TEST(Arithmetic, WhatAMacroSpellsIsRefused) {
  EXPECT_THAT(refusalsFor(askArithmetic("#define E(x) expf(x)\n"
                                        "__global__ void k(float *r) {\n  r[0] = E(r[1]);\n}\n")),
              ElementsAre("3: a macro spells the operation"));
}

TEST(Arithmetic, FunctionsOfTheUserStay) {
  EXPECT_THAT(
      textsFor(askArithmetic("__device__ float logf2(float x) { return x; }\n"
                             "namespace own { __device__ float expf(float x) { return x; } }\n"
                             "__global__ void k(float *r) { r[0] = own::expf(logf2(r[1])); }\n")),
      IsEmpty());
}

TEST(Arithmetic, ATemplateThatDividesSeveralTypesKeepsItsDivisions) {
  EXPECT_THAT(
      refusalsFor(askArithmetic(
          "template <class T> __device__ T ratio(T a, T b) { return a / b; }\n"
          "__global__ void k(float *r, int n) { r[0] = ratio(r[1], r[2]) + ratio(n, 3); }\n")),
      ElementsAre("a template divides numbers of several types at one place"));
}

TEST(Arithmetic, FunctionsThatTheHostRunsTooGetNoIntrinsics) {
  const Question question = askArithmetic(
      "__host__ __device__ float f(float a, float b, float c) { return expf(a / (b + c)) / c; }\n"
      "__global__ void k(float *r) { r[0] = f(r[1], r[2], r[3]); }\n");
  EXPECT_THAT(titlesFor(question), ElementsAre("divide approximately", "multiply by reciprocals"));
  EXPECT_THAT(textsFor(question)[0], HasSubstr("return expf(a / (b + c)) * (1.0f / c);"));
  EXPECT_THAT(refusalsFor(question), ElementsAre("1: the host may run the function, too"));
}

TEST(Arithmetic, LiteralsBeyondAFloatStay) {
  EXPECT_THAT(storedAfter("x * 1e60 + 1e-60 * y"), IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
