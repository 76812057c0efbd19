// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Values = std::vector<ScalarValue>;

Question askSpecialise(std::string slice, const std::vector<Values> &launches) {
  Question question{.technique = "specialise", .slice = std::move(slice)};
  question.launches.clear();
  for (const Values &values : launches)
    question.launches.push_back({{64, 1, 1}, {256, 1, 1}, 0, 1, values});
  return question;
}

std::string onlyText(const Question &question) {
  const auto texts = textsFor(question);
  EXPECT_THAT(texts, SizeIs(1));
  return texts.empty() ? "" : texts.front();
}

/// A kernel `k` with these parameters, which reads n.
std::string kernelWith(const std::string &parameters) {
  return "__global__ void k(" + parameters + ") { a[0] = n; }\n";
}

TEST(Specialise, CallsTheBodyWithConstantsWhereTheLaunchHasThem) {
  EXPECT_EQ(
      onlyText(askSpecialise("// Powers.\n"
                             "__global__ void __launch_bounds__(256) k(const float *a, float *b,\n"
                             "                                         int n = 3) {\n"
                             "    // In place.\n"
                             "    for (int i = 0; i < n; ++i)\n"
                             "        b[i] = a[i];\n"
                             "}\n",
                             {{{"n", "8"}}})),
      "// Powers.\n"
      "static __device__ __forceinline__ void k_body(const float *a, float *b,\n"
      "                                              int n) {\n"
      "    // In place.\n"
      "    for (int i = 0; i < n; ++i)\n"
      "        b[i] = a[i];\n"
      "}\n"
      "\n"
      "__global__ void __launch_bounds__(256) k(const float *a, float *b,\n"
      "                                         int n = 3) {\n"
      "    // The values of the measured launches, as constants; others take the general path.\n"
      "    if (n == 8)\n"
      "        k_body(a, b, 8);\n"
      "    else\n"
      "        k_body(a, b, n);\n"
      "}\n");
}

const char kPower[] = "__global__ void k(float *a, int n, float p) { a[n] = a[n + 1] * p; }\n";

TEST(Specialise, SaysWhatItAssumes) {
  const auto offers = offersFor(askSpecialise(kPower, {{{"n", "8"}, {"p", "2.0f"}}}));
  ASSERT_THAT(offers, SizeIs(2));
  EXPECT_EQ(offers[0].title, "specialise for n == 8 && p == 2.0f");
  EXPECT_EQ(offers[0].note, "faster only where n == 8 && p == 2.0f; all other launches run the "
                            "original body");
  EXPECT_EQ(offers[0].legality, Legality::Guarded);
  EXPECT_EQ(offers[1].title, "specialise for n == 8"); // the integers alone
}

TEST(Specialise, AsksForTheValuesOfMostWeightFirst) {
  Question question = askSpecialise(
      kPower,
      {{{"n", "8"}, {"p", "2.0f"}}, {{"n", "8"}, {"p", "3.5f"}}, {{"n", "8"}, {"p", "2.0f"}}});
  question.launches[1].weight = 5;
  const auto texts = textsFor(question);
  ASSERT_THAT(texts, SizeIs(2));
  EXPECT_THAT(texts[0], HasSubstr("  if (n == 8 && p == 3.5f)\n"
                                  "    k_body(a, 8, 3.5f);\n"
                                  "  else if (n == 8 && p == 2.0f)\n"
                                  "    k_body(a, 8, 2.0f);\n"
                                  "  else\n"
                                  "    k_body(a, n, p);\n"
                                  "}\n"));
  EXPECT_THAT(texts[1], HasSubstr("  if (n == 8)\n    k_body(a, 8, p);\n"));
}

TEST(Specialise, LeavesOutWhatTakesManyValues) {
  std::vector<Values> launches;
  for (int i = 1; i <= 5; ++i)
    launches.push_back({{"n", std::to_string(i)}, {"p", "2.0f"}});
  EXPECT_THAT(titlesFor(askSpecialise(kPower, launches)), ElementsAre("specialise for p == 2.0f"));
  for (Values &values : launches)
    values.pop_back();
  EXPECT_THAT(refusalsFor(askSpecialise(kPower, launches)),
              ElementsAre("each scalar that it reads takes many values"));
}

TEST(Specialise, LeavesOutWhatOneLaunchDoesNotTell) {
  EXPECT_THAT(titlesFor(askSpecialise(kPower, {{{"n", "8"}, {"p", "2.0f"}}, {{"p", "2.0f"}}})),
              ElementsAre("specialise for p == 2.0f"));
}

TEST(Specialise, LeavesOutWhatTheKernelDoesNotRead) {
  EXPECT_THAT(titlesFor(askSpecialise(kernelWith("float *a, int n, int unused"),
                                      {{{"n", "8"}, {"unused", "3"}}})),
              ElementsAre("specialise for n == 8"));
  EXPECT_THAT(refusalsFor(askSpecialise("__global__ void k(float *a, int n) { (void)n; a[0] = 1; }",
                                        {{{"n", "8"}}})),
              ElementsAre("it reads no scalar whose values are known"));
}

TEST(Specialise, SetsMembersOfACopy) {
  EXPECT_THAT(onlyText(askSpecialise(
                  "struct Size { int x, y; enum Kind { A } kind; };\n"
                  "__global__ void k(float *a, const Size size, bool flip) {\n"
                  "  a[flip ? size.x : size.kind] = 1;\n"
                  "}\n",
                  {{{"size.x", "3"}, {"size.y", "4"}, {"size.kind", "0"}, {"flip", "false"}}})),
              HasSubstr("  if (size.x == 3 && !flip) {\n"
                        "    auto size2 = size;\n"
                        "    size2.x = 3;\n"
                        "    k_body(a, size2, false);\n"
                        "  } else {\n"
                        "    k_body(a, size, flip);\n"
                        "  }\n"
                        "}\n"));
}

TEST(Specialise, TakesTemplatesWithTheirArguments) {
  Question question = askSpecialise("namespace s {\n"
                                    "  template <typename T, int R = 2>\n"
                                    "  __global__ void k(T *a, int n) {\n"
                                    "    a[n] = R;\n"
                                    "  }\n"
                                    "}\n"
                                    "template __global__ void s::k<float, 4>(float *, int);\n",
                                    {{{"n", "8"}}});
  question.kernel = "s::k";
  question.expression = "s::k<float, 4>";
  EXPECT_THAT(onlyText(question),
              HasSubstr("  template <typename T, int R>\n"
                        "  static __device__ __forceinline__ void k_body(T *a, int n) {\n"
                        "    a[n] = R;\n"
                        "  }\n"
                        "\n"
                        "  template <typename T, int R = 2>\n"
                        "  __global__ void k(T *a, int n) {\n"
                        "    // The values of the measured launches, as constants; others take the "
                        "general path.\n"
                        "    if (n == 8)\n"
                        "      k_body<T, R>(a, 8);\n"));
}

TEST(Specialise, GoesBeforeTheDefinition) {
  const std::string text =
      onlyText(askSpecialise("extern \"C\" __global__ void k(float *a, int n);\n"
                             "extern \"C\" __global__ void k(float *a, int n) { a[0] = n; }\n",
                             {{{"n", "8"}}}));
  EXPECT_THAT(text, HasSubstr("k(float *a, int n);\n"
                              "static __device__ __forceinline__ void k_body(float *a, int n) { "
                              "a[0] = n; }\n\n"
                              "extern \"C\" __global__ void k(float *a, int n) {\n"));
}

TEST(Specialise, KeepsSharedMemoryAndQualifiers) {
  const std::string text =
      onlyText(askSpecialise("__global__ void k(float *__restrict__ a, int n) {\n"
                             "  __shared__ float tile[32];\n"
                             "  extern __shared__ float rest[];\n"
                             "  tile[n] = rest[n] = a[n];\n"
                             "  __syncthreads();\n"
                             "  a[n] = tile[n + 1];\n"
                             "}\n",
                             {{{"n", "8"}}}));
  EXPECT_THAT(text, HasSubstr("void k_body(float *__restrict__ a, int n) {\n"
                              "  __shared__ float tile[32];\n"));
  EXPECT_THAT(text, HasSubstr("__global__ void k(float *__restrict__ a, int n) {\n"));
}

TEST(Specialise, BreaksLongLines) {
  Question question = askSpecialise(
      "__global__ void gemmKernel(float *matrix, int numberOfTheRows, int "
      "numberOfTheColumns, int leadingDimensionOfTheWholeMatrix) {\n"
      "  matrix[numberOfTheRows * numberOfTheColumns] = leadingDimensionOfTheWholeMatrix;\n"
      "}\n",
      {{{"numberOfTheRows", "4096"},
        {"numberOfTheColumns", "4096"},
        {"leadingDimensionOfTheWholeMatrix", "8192"}}});
  question.kernel = question.expression = "gemmKernel";
  EXPECT_THAT(onlyText(question), // the function is named as the user names functions
              HasSubstr("  if (numberOfTheRows == 4096 && numberOfTheColumns == 4096 &&\n"
                        "      leadingDimensionOfTheWholeMatrix == 8192)\n"
                        "    gemmKernelBody(matrix, 4096, 4096, 8192);\n"));
}

TEST(Specialise, TellsTheZerosApart) {
  const std::string text = "__global__ void k(float *a, float s) {\n  a[0] /= s;\n}\n";
  EXPECT_THAT(onlyText(askSpecialise(text, {{{"s", "0x0p+0f"}}})),
              HasSubstr("  if (s == 0x0p+0f && !signbit(s))\n"));
  EXPECT_THAT(onlyText(askSpecialise(text, {{{"s", "-0x0p+0f"}}})),
              HasSubstr("  if (s == -0x0p+0f && signbit(s))\n"));
}

TEST(Specialise, RefusesRegistersOfAssembly) {
  EXPECT_THAT(refusalsFor(askSpecialise("__global__ void k(int *a, int n) {\n"
                                        "  asm(\".reg .u32 q; mov.u32 q, %0;\" :: \"r\"(n));\n"
                                        "  a[0] = n;\n}\n",
                                        {{{"n", "8"}}})),
              ElementsAre("2: its assembly declares registers, which it may only once"));
}

TEST(Specialise, RefusesASecondTime) {
  Question question = askSpecialise(kernelWith("float *a, int n"), {{{"n", "8"}}});
  question.slice = onlyText(question);
  EXPECT_THAT(refusalsFor(question), ElementsAre("1: it was specialised already"));
  EXPECT_THAT(offersFor(question), IsEmpty());
}

TEST(Specialise, RefusesWhatItCannotPassOn) {
  const auto why = [](const std::string &slice) {
    return refusalsFor(askSpecialise(slice, {{{"n", "8"}}}));
  };
  EXPECT_THAT(why(kernelWith("float *a, int n, int")), ElementsAre("1: a parameter has no name"));
  EXPECT_THAT(why("#define __grid_constant__\n" +
                  kernelWith("float *a, int n, const __grid_constant__ int m")),
              ElementsAre("2: a parameter is a __grid_constant__"));
  EXPECT_THAT(why("#define KERNEL(name) __global__ void name(float *a, int n) { a[0] = n; }\n"
                  "KERNEL(k)\n"),
              ElementsAre("2: a macro spells a part of it, or it is no plain function"));
  EXPECT_THAT(why("#define THREE 3\n" + kernelWith("float *a, int n = THREE")),
              ElementsAre("2: a macro spells a default argument"));
}

TEST(Specialise, RefusesKernelsThatAFunctionBesideThemCannotReplace) {
  const auto why = [](const std::string &slice, const std::string &kernel,
                      const std::string &expression) {
    Question question = askSpecialise(slice, {{{"n", "8"}}});
    question.kernel = kernel;
    question.expression = expression;
    return refusalsFor(question);
  };
  EXPECT_THAT(why("namespace s { __global__ void k(float *a, int n); }\n"
                  "__global__ void s::k(float *a, int n) { a[0] = n; }\n",
                  "s::k", "s::k"),
              ElementsAre("2: it is a member, or is defined outside its namespace"));
  EXPECT_THAT(why("template <int N> __global__ void k(float *a, int n) { a[0] = n + N; }\n"
                  "template <> __global__ void k<3>(float *a, int n) { a[0] = n; }\n",
                  "k", "k<3>"),
              ElementsAre("2: it is a specialization of a template"));
  EXPECT_THAT(why("template <int... N> __global__ void k(float *a, int n) { a[0] = n; }\n"
                  "template __global__ void k<3>(float *, int);\n",
                  "k", "k<3>"),
              ElementsAre("1: its template has constraints or a parameter pack"));
}

TEST(Specialise, RefusesAKernelWithoutLaunches) {
  EXPECT_THAT(refusalsFor(askSpecialise(kPower, {})),
              ElementsAre("it reads no scalar whose values are known"));
}

} // namespace
} // namespace kopt::frontend::test
