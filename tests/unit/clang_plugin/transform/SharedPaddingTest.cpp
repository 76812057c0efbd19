// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Question askPadding(std::string slice) {
  return {.technique = "shared-padding", .slice = std::move(slice)};
}

/// A kernel with these statements.
Question askPaddingOf(const std::string &body, const std::string &before) {
  return askPadding(
      before + "__global__ void k(float *o, int n) {\n  int x = threadIdx.x, y = threadIdx.y;\n" +
      body + "\n}\n");
}
std::vector<Offer> paddings(const std::string &body, const std::string &before = "") {
  return offersFor(askPaddingOf(body, before));
}
std::vector<std::string> paddingTitles(const std::string &body) {
  return titlesFor(askPaddingOf(body, ""));
}
std::vector<std::string> paddingTexts(const std::string &body, const std::string &before) {
  return textsFor(askPaddingOf(body, before));
}

TEST(SharedPadding, LengthensRows) {
  const std::string uses = " t[y][x] = o[x]; __syncthreads(); o[y] = t[x][y];\n}\n";
  const std::string head =
      "__global__ void k(float *o) {\n  int x = threadIdx.x, y = threadIdx.y;\n";
  EXPECT_THAT(textsFor(askPadding(head + "  __shared__ float t[32][32];" + uses)),
              ElementsAre(head + "  __shared__ float t[32][32 + 1];" + uses,
                          head + "  __shared__ float t[32][32 + 2];" + uses));
}

TEST(SharedPadding, KeepsExpressionsWhole) {
  EXPECT_THAT(paddingTexts("__shared__ float t[N][2 * N]; t[y][x] = 1; o[x] = t[x][y];",
                           "constexpr int N = 16;\n"),
              Contains(HasSubstr("t[N][(2 * N) + 1]")));
  EXPECT_THAT(
      paddingTexts("__shared__ float t[N][N]; t[y][x] = 1; o[x] = t[x][y];", "#define N 1 << 4\n"),
      Contains(HasSubstr("t[N][(N) + 1]")));
}

TEST(SharedPadding, OffersSeveralArraysTogetherAndAlone) {
  EXPECT_THAT(
      paddingTitles(
          "__shared__ float a[8][8], b[8][16]; a[y][x] = b[y][x] = 1; o[0] = a[x][y] + b[x][y];"),
      ElementsAre("pad the rows of a to 8 + 1 and b to 16 + 1", "pad the rows of a to 8 + 1",
                  "pad the rows of a to 8 + 2", "pad the rows of b to 16 + 1",
                  "pad the rows of b to 16 + 2"));
}

TEST(SharedPadding, CountsInElements) {
  EXPECT_THAT(paddingTitles("__shared__ char t[8][64]; t[y][x] = 1; o[0] = t[x][y];"),
              ElementsAre("pad the rows of t to 64 + 1", "pad the rows of t to 64 + 4",
                          "pad the rows of t to 64 + 8"));
  EXPECT_THAT(paddingTitles("__shared__ double t[2][8][16]; t[1][y][x] = 1; o[0] = t[0][x][y];"),
              ElementsAre("pad the rows of t to 16 + 1"));
}

TEST(SharedPadding, WorksInTemplatesAndDeviceFunctions) {
  Question question = askPadding(
      "template <int T> __device__ float turn(float v) {\n  __shared__ float t[T][T];\n"
      "  t[threadIdx.y][threadIdx.x] = v;\n  __syncthreads();\n  return "
      "t[threadIdx.x][threadIdx.y];\n}\n"
      "template <int T> __global__ void k(float *o) { o[threadIdx.x] = turn<T>(o[0]); }\n"
      "template __global__ void k<16>(float *);\n");
  question.expression = "k<16>";
  EXPECT_THAT(textsFor(question), Contains(HasSubstr("__shared__ float t[T][T + 1];")));
}

TEST(SharedPadding, AllowsAtomicsOnElements) {
  EXPECT_THAT(
      paddings("__shared__ int t[4][64]; t[y][x] = 0; atomicAdd(&t[y][x], 1); o[0] = t[1][2];"),
      testing::SizeIs(2));
}

TEST(SharedPadding, RefusesArraysThatDecay) {
  EXPECT_THAT(
      paddings("__shared__ float t[32][32]; float *row = t[y]; row[x] = 1; o[0] = t[1][2];"),
      IsEmpty());
  EXPECT_THAT(paddings("__shared__ float t[32][32]; f(&t[0][0]); o[0] = t[1][2];",
                       "__device__ void f(float *p) { p[40] = 1; }\n"),
              IsEmpty());
  EXPECT_THAT(paddings("__shared__ float t[32][32]; f(t); o[0] = t[1][2];",
                       "__device__ void f(float (&p)[32][32]) { p[1][2] = 1; }\n"),
              IsEmpty());
  EXPECT_THAT(paddings("__shared__ float t[32][32]; (*(t + y))[x] = 1; o[0] = t[1][2];"),
              IsEmpty());
}

TEST(SharedPadding, RefusesArraysThatAreReinterpreted) {
  EXPECT_THAT(paddings("__shared__ float t[32][32]; *reinterpret_cast<float4 *>(&t[y][x]) "
                       "= float4(); o[0] = t[1][2];"),
              IsEmpty());
  EXPECT_THAT(paddings("__shared__ float t[32][32]; (float4 &)t[y][x] = float4(); o[0] = t[1][2];"),
              IsEmpty());
  EXPECT_THAT(
      paddings("__shared__ float t[32][32]; float &e = t[y][x]; (&e)[32] = 1; o[0] = t[1][2];"),
      IsEmpty());
}

TEST(SharedPadding, RefusesArraysThatAreMeasured) {
  EXPECT_THAT(paddings("__shared__ float t[32][32]; t[y][x] = sizeof(t) / sizeof(float);"),
              IsEmpty());
  EXPECT_THAT(paddings("__shared__ float t[32][32]; t[y][x] = sizeof(t[0]);"), IsEmpty());
}

TEST(SharedPadding, RefusesRowsThatArePaddedAlready) {
  EXPECT_THAT(paddings("__shared__ float t[32][33]; t[y][x] = 1; o[0] = t[x][y];"), IsEmpty());
}

TEST(SharedPadding, RefusesOtherArrays) {
  EXPECT_THAT(paddings("__shared__ float t[1024]; t[x] = 1; o[0] = t[y * 32 + x];"), IsEmpty());
  EXPECT_THAT(paddings("extern __shared__ float t[][32]; t[y][x] = 1; o[0] = t[x][y];"), IsEmpty());
  EXPECT_THAT(paddings("float t[4][4]; t[1][2] = n; o[0] = t[n][1];"), IsEmpty());
  EXPECT_THAT(
      paddings("__shared__ Row t[32]; t[y][x] = 1; o[0] = t[x][y];", "typedef float Row[32];\n"),
      IsEmpty());
}

TEST(SharedPadding, StaysWithinStaticSharedMemory) {
  EXPECT_THAT(paddings("__shared__ float t[96][128]; t[y][x] = 1; o[0] = t[x][y];"), IsEmpty());
  EXPECT_THAT(paddingTitles("__shared__ float t[95][128]; t[y][x] = 1; o[0] = t[x][y];"),
              ElementsAre("pad the rows of t to 128 + 1"));
}

} // namespace
} // namespace kopt::frontend::test
