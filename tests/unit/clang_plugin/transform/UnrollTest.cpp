// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Question askUnroll(const std::string &slice) { return {.technique = "unroll", .slice = slice}; }
std::vector<Offer> unrolls(const std::string &slice) { return offersFor(askUnroll(slice)); }
std::vector<std::string> unrollTitles(const std::string &slice) {
  return titlesFor(askUnroll(slice));
}
std::vector<std::string> unrollTexts(const std::string &slice) {
  return textsFor(askUnroll(slice));
}

TEST(Unroll, OffersFactorsForALoopOfUnknownLength) {
  EXPECT_THAT(unrollTexts("__global__ void k(float *a, int n) {\n  for (int i = 0; i < n; ++i)\n  "
                          "  a[i] = 1;\n}\n"),
              ElementsAre("__global__ void k(float *a, int n) {\n  #pragma unroll 4\n  for (int i "
                          "= 0; i < n; ++i)\n    a[i] = 1;\n}\n",
                          "__global__ void k(float *a, int n) {\n  #pragma unroll 2\n  for (int i "
                          "= 0; i < n; ++i)\n    a[i] = 1;\n}\n",
                          "__global__ void k(float *a, int n) {\n  #pragma unroll 8\n  for (int i "
                          "= 0; i < n; ++i)\n    a[i] = 1;\n}\n",
                          "__global__ void k(float *a, int n) {\n  #pragma unroll 1\n  for (int i "
                          "= 0; i < n; ++i)\n    a[i] = 1;\n}\n"));
}

TEST(Unroll, UnrollsAKnownLoopFully) {
  EXPECT_THAT(unrollTitles("constexpr int N = 32;\n__global__ void k(float *a) {\n"
                           "  for (int i = N - 1; i >= 0; i -= 8)\n    a[i] = 1;\n}\n"),
              ElementsAre("fully unroll: for (int i = N - 1; i >= 0; i -= 8)",
                          "unroll by 2: for (int i = N - 1; i >= 0; i -= 8)",
                          "do not unroll: for (int i = N - 1; i >= 0; i -= 8)"));
}

TEST(Unroll, GivesThePragmaALineOfItsOwn) {
  EXPECT_THAT(unrollTexts("__global__ void k(float *a, int n) {\n  if (n > 3) for (int i = 0; i < "
                          "n; ++i) a[i] = 1;\n}\n"),
              Contains("__global__ void k(float *a, int n) {\n  if (n > 3) \n  #pragma unroll 4\n"
                       "  for (int i = 0; i < n; ++i) a[i] = 1;\n}\n"));
}

TEST(Unroll, ChangesTheFactorOfAPragma) {
  const auto texts = unrollTexts("__global__ void k(float *a, int n) {\n#pragma unroll 4  // why\n"
                                 "  for (int i = 0; i < n; ++i) a[i] = 1;\n}\n");
  EXPECT_THAT(texts, SizeIs(3));
  EXPECT_THAT(texts, Contains("__global__ void k(float *a, int n) {\n#pragma unroll 8  // why\n"
                              "  for (int i = 0; i < n; ++i) a[i] = 1;\n}\n"));
  EXPECT_THAT(texts, Not(Contains(HasSubstr("unroll 4"))));
}

TEST(Unroll, ReachesDeviceFunctionsThatAreCalled) {
  const auto titles = unrollTitles(
      "__device__ float f(float x, int n) { for (int j = 0; j < n; ++j) x *= x; return x; }\n"
      "__device__ float g(float x, int n) { for (int u = 0; u < n; ++u) x *= x; return x; }\n"
      "__global__ void k(float *a, int n) { a[0] = f(a[1], n); }\n");
  EXPECT_THAT(titles, SizeIs(4));
  EXPECT_THAT(titles, Each(HasSubstr("int j = 0")));
}

TEST(Unroll, PutsTheInnermostLoopFirst) {
  const auto titles =
      unrollTitles("__global__ void k(float *a, int n) {\n  for (int i = 0; i < n; ++i)\n"
                   "    for (int j = 0; j < 4; ++j)\n      a[i] += j;\n}\n");
  ASSERT_THAT(titles, SizeIs(7));
  EXPECT_EQ(titles.front(), "fully unroll: for (int j = 0; j < 4; ++j)");
}

TEST(Unroll, DoesNotCountALoopWhoseBodyMovesItsVariable) {
  EXPECT_THAT(unrollTitles("__global__ void k(float *a) {\n  for (int i = 0; i < 8; ++i) { a[i] = "
                           "1; if (a[i]) i += 2; }\n}\n"),
              Each(Not(HasSubstr("fully"))));
}

TEST(Unroll, RefusesLoopsThatRunOnce) {
  EXPECT_THAT(unrolls("__global__ void k(float *a) { for (int i = 0; i < 1; ++i) a[i] = 1; }\n"),
              IsEmpty());
}

TEST(Unroll, RefusesLoopsOutOfMacros) {
  EXPECT_THAT(unrolls("#define EACH(i, n) for (int i = 0; i < n; ++i)\n"
                      "__global__ void k(float *a, int n) { EACH(i, n) a[i] = 1; }\n"),
              IsEmpty());
}

TEST(Unroll, RefusesOtherPragmas) {
  EXPECT_THAT(unrolls("__global__ void k(float *a, int n) {\n#pragma nounroll\n"
                      "  for (int i = 0; i < n; ++i) a[i] = 1;\n}\n"),
              IsEmpty());
  EXPECT_THAT(unrolls("__global__ void k(float *a, int n) {\n  _Pragma(\"unroll 4\")\n"
                      "  for (int i = 0; i < n; ++i) a[i] = 1;\n}\n"),
              IsEmpty());
}

TEST(Unroll, RefusesLoopsThatAreNotCounted) {
  EXPECT_THAT(
      unrolls("__global__ void k(float *a, int n) { while (n--) a[n] = 1; for (;;) break; }\n"),
      IsEmpty());
}

TEST(Unroll, LeavesFunctionsAloneThatTheKernelDoesNotCall) {
  EXPECT_THAT(
      unrolls("__device__ void g(float *a, int n) { for (int u = 0; u < n; ++u) a[u] = 1; }\n"
              "__global__ void k(float *a) { a[0] = 1; }\n"),
      IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
