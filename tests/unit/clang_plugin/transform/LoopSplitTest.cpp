// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Question askLoopSplit(std::string slice) {
  return {.technique = "loop-split", .slice = std::move(slice)};
}

/// A kernel with this before, in and after its loop over i.
std::string rowSum(const std::string &before, const std::string &inside, const std::string &after) {
  return "__global__ void k(const float *__restrict__ a, float *__restrict__ r, int n, int m) {\n"
         "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (row >= m)\n"
         "    return;\n" +
         before + "  for (int i = 0; i < n; i++)\n" + inside + after + "}\n";
}

const std::string kPlain =
    rowSum("  float sum = 0;\n", "    sum += a[row * n + i];\n", "  r[row] = sum;\n");

TEST(LoopSplit, LanesOfAWarpTakeTurnsAndAddUpTheirParts) {
  EXPECT_EQ(
      textsFor(askLoopSplit(kPlain)).front(),
      "__global__ void k(const float *__restrict__ a, float *__restrict__ r, int n, int m) {\n"
      "  const int lane = threadIdx.x % 32; // 32 lanes do the work of one thread\n"
      "  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;\n"
      "  if (row >= m)\n"
      "    return;\n"
      "  float sum = 0;\n"
      "  for (int i = lane; i < n; i += 32)\n"
      "    sum += a[row * n + i];\n"
      "  for (int offset = 16; offset > 0; offset /= 2)\n"
      "    sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"
      "  if (lane == 0)\n"
      "    r[row] = sum;\n"
      "}\n");
}

TEST(LoopSplit, APartOfAWarpNamesItsLanes) {
  EXPECT_EQ(
      textsFor(askLoopSplit(kPlain))[1],
      "__global__ void k(const float *__restrict__ a, float *__restrict__ r, int n, int m) {\n"
      "  const int lane = threadIdx.x % 8; // 8 lanes do the work of one thread\n"
      "  const unsigned mates = 0xffffffffu >> (32 - 8) << (threadIdx.x % 32 / 8 * 8);\n"
      "  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;\n"
      "  if (row >= m)\n"
      "    return;\n"
      "  float sum = 0;\n"
      "  for (int i = lane; i < n; i += 8)\n"
      "    sum += a[row * n + i];\n"
      "  for (int offset = 8 / 2; offset > 0; offset /= 2)\n"
      "    sum += __shfl_xor_sync(mates, sum, offset);\n"
      "  if (lane == 0)\n"
      "    r[row] = sum;\n"
      "}\n");
}

TEST(LoopSplit, TheGridGrowsWhereTheBlockIsAMultipleOfTheLanes) {
  const auto offers = offersFor(askLoopSplit(kPlain));
  ASSERT_EQ(offers.size(), 4u); // 32, 8, 16 and 4 lanes
  EXPECT_EQ(offers[0].launch->grid[0], "gridDim.x * 32");
  EXPECT_EQ(offers[0].launch->block[0], "");
  EXPECT_EQ(offers[2].launch->grid[0], "gridDim.x * 16");
  EXPECT_EQ(offers[2].blockMultiple, "16");
  EXPECT_EQ(offers[0].legality, Legality::Tested);
}

TEST(LoopSplit, OtherBlocksGrowThemselves) {
  Question question = askLoopSplit(
      rowSum("  float sum = 0;\n", "    sum += a[threadIdx.x * n + i];\n", "  r[row] = sum;\n"));
  question.launches = {{{7, 1, 1}, {10, 1, 1}, 0}};
  const auto offers = offersFor(question);
  ASSERT_FALSE(offers.empty());
  EXPECT_EQ(offers[0].launch->block[0], "blockDim.x * 32");
  EXPECT_THAT(textsFor(question).front(), HasSubstr("a[(threadIdx.x / 32) * n + i]"));
}

TEST(LoopSplit, ThePlaceInABlockIsAnotherWhereTheGridGrows) {
  EXPECT_THAT(
      textsFor(askLoopSplit("__global__ void k(const int *a, int *r) {\n"
                            "  int l = threadIdx.x;\n"
                            "  int sum = 0;\n"
                            "  for (int i = 1; i < 100; i += 2)\n"
                            "    sum += a[l * 100 + i];\n"
                            "  r[blockIdx.x] = sum;\n"
                            "}\n"))
          .front(),
      testing::AllOf(HasSubstr("int l = blockIdx.x % 32 * (blockDim.x / 32) + threadIdx.x / 32;"),
                     HasSubstr("for (int i = 1 + 2 * lane; i < 100; i += 2 * 32)"),
                     HasSubstr("r[(blockIdx.x / 32)] = sum;")));
}

TEST(LoopSplit, AValueFromBeforeTheLoopCountsOnce) {
  EXPECT_THAT(textsFor(askLoopSplit(rowSum("  float sum = a[row];\n",
                                           "    sum += a[row * n + i];\n", "  r[row] = sum;\n")))
                  .front(),
              HasSubstr("  if (lane != 0) {\n    sum = 0;\n  }\n  for (int i = lane;"));
}

TEST(LoopSplit, ALargestValueMayMeetItselfTwice) {
  EXPECT_THAT(
      textsFor(
          askLoopSplit(rowSum("  float most = a[row];\n",
                              "    most = fmaxf(most, a[row * n + i]);\n", "  r[row] = most;\n")))
          .front(),
      testing::AllOf(Not(HasSubstr("lane != 0")),
                     HasSubstr("most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, offset));")));
}

TEST(LoopSplit, SeveralSumsAndConditionsInOneLoop) {
  EXPECT_THAT(textsFor(askLoopSplit(rowSum(
                           "  float sum = 0, squares = 0;\n  int count = 0;\n",
                           "    if (a[row * n + i] > 0) {\n      float x = a[row * n + i];\n"
                           "      sum += x;\n      squares += x * x;\n      count++;\n    }\n",
                           "  r[row] = sum + squares / count;\n")))
                  .front(),
              HasSubstr("  for (int offset = 16; offset > 0; offset /= 2) {\n"
                        "    sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"
                        "    squares += __shfl_xor_sync(0xffffffff, squares, offset);\n"
                        "    count += __shfl_xor_sync(0xffffffff, count, offset);\n"
                        "  }\n"));
}

TEST(LoopSplit, ALoopInAFunctionThatTheKernelCalls) {
  const std::string text =
      textsFor(
          askLoopSplit(
              "__device__ float dot(const float *a, int n) {\n"
              "  float sum = 0;\n"
              "  for (int i = 0; i < n; ++i)\n"
              "    sum += a[i] * a[i];\n"
              "  return sum;\n"
              "}\n"
              "__global__ void k(const float *__restrict__ a, float *__restrict__ r, int n) {\n"
              "  r[blockIdx.x * blockDim.x + threadIdx.x] = dot(a, n);\n"
              "}\n"))
          .front();
  EXPECT_THAT(
      text,
      HasSubstr("float dot(const float *a, int n) {\n  const int lane = threadIdx.x % 32;\n"));
  EXPECT_THAT(text, HasSubstr("  {\n"
                              "  const auto value = dot(a, n);\n"
                              "  if (lane == 0)\n"
                              "    r[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;\n"
                              "  }\n"))
      << "all lanes have to call it";
}

TEST(LoopSplit, StoresThatMayBeReadLaterAreOrdered) {
  EXPECT_THAT(textsFor(askLoopSplit("__global__ void k(float *a, int n) {\n"
                                    "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "  a[row * n] = 1;\n"
                                    "  float sum = 0;\n"
                                    "  for (int i = 0; i < n; i++) sum += a[row * n + i];\n"
                                    "  a[row] = sum;\n"
                                    "}\n"))
                  .front(),
              testing::AllOf(HasSubstr("  __syncwarp();\n  if (lane == 0)\n    a[row * n] = 1;\n"
                                       "  __syncwarp();\n"),
                             HasSubstr("  if (lane == 0)\n    a[row] = sum;\n}")));
}

TEST(LoopSplit, OnlyTheOuterOfTwoLoopsIsSplit) {
  const auto texts = textsFor(askLoopSplit(
      rowSum("  float sum = 0;\n", "    for (int j = 0; j < n; j++)\n      sum += a[i * n + j];\n",
             "  r[row] = sum;\n")));
  EXPECT_THAT(texts.front(),
              HasSubstr("for (int i = lane; i < n; i += 32)\n    for (int j = 0; j < n; j++)"));
}

TEST(LoopSplit, WhatTheIterationsCarryIsRefused) {
  EXPECT_THAT(refusalsFor(askLoopSplit(rowSum("  float sum = 0;\n", "    sum = sum * 2 + a[i];\n",
                                              "  r[row] = sum;\n"))),
              Contains("7: the loop carries 'sum' to its next iteration"));
  EXPECT_THAT(
      refusalsFor(askLoopSplit(rowSum("  float sum = 0, last = 0;\n",
                                      "    { sum += last; last = a[i]; }\n", "  r[row] = sum;\n"))),
      Contains(HasSubstr("carries 'last'")));
  EXPECT_THAT(refusalsFor(askLoopSplit(rowSum(
                  "  float sum = 0;\n", "    { sum += a[i]; if (sum > 3) r[i] = 1; }\n", ""))),
              Contains("7: the loop writes to memory"));
  EXPECT_THAT(refusalsFor(askLoopSplit(rowSum("  float sum = 0;\n",
                                              "    { if (a[i] < 0) break; sum += a[i]; }\n",
                                              "  r[row] = sum;\n"))),
              Contains("7: the loop is left before its end, or has a lambda"));
  EXPECT_THAT(
      refusalsFor(askLoopSplit(rowSum("  float part[4] = {};\n", "    part[i % 4] += a[i];\n",
                                      "  r[row] = part[0];\n"))),
      Contains("7: the loop writes to a part of 'part'"));
}

TEST(LoopSplit, ThreadsThatWorkTogetherAreRefused) {
  EXPECT_THAT(refusalsFor(askLoopSplit(rowSum("  float sum = 0;\n  __syncthreads();\n",
                                              "    sum += a[i];\n", "  r[row] = sum;\n"))),
              Contains("6: the kernel waits for other threads"));
  EXPECT_THAT(refusalsFor(askLoopSplit(
                  rowSum("  float sum = 0;\n", "    sum += a[i];\n", "  atomicAdd(r, sum);\n"))),
              Contains("8: the kernel uses atomics"));
  EXPECT_THAT(textsFor(askLoopSplit(textsFor(askLoopSplit(kPlain)).front())), IsEmpty())
      << "once is enough";
}

TEST(LoopSplit, MemoryThatMayBeAThreadsOwnIsRefused) {
  const auto withSet = [](const std::string &store) {
    return askLoopSplit("__device__ void set(float *p, float x) { *p = x; }\n"
                        "__global__ void k(const float *a, float *r, int n) {\n"
                        "  float own, sum = 0;\n"
                        "  set(&own, a[0]);\n"
                        "  for (int i = 0; i < n; i++) sum += own * a[i];\n  " +
                        store + "}\n");
  };
  EXPECT_THAT(refusalsFor(withSet("set(r + threadIdx.x, sum);\n")),
              Contains("1: it stores to what may be a thread's own memory"));
  EXPECT_THAT(textsFor(withSet("r[threadIdx.x] = sum;\n")).front(),
              testing::AllOf(HasSubstr("{ *p = x; }"), HasSubstr("if (lane == 0)\n    r[")));
}

TEST(LoopSplit, AFirstValueOfSeveralWordsIsBracketed) {
  EXPECT_THAT(textsFor(askLoopSplit("__global__ void k(const float *a, float *r, int n, int m) {\n"
                                    "  float sum = 0;\n"
                                    "  for (int i = n & 1; i < m; i++)\n"
                                    "    sum += a[i];\n"
                                    "  r[threadIdx.x] = sum;\n"
                                    "}\n"))
                  .front(),
              HasSubstr("for (int i = (n & 1) + lane; i < m; i += 32)"));
}

TEST(LoopSplit, CountersThatWrapAreRefused) {
  for (const char *head :
       {"for (unsigned i = n; i > 0; --i)", "for (unsigned char i = 0; i < 250; i++)",
        "for (int i = n; i >= 1u; --i)"}) {
    const std::string text = std::string("__global__ void k(const float *a, float *r, int n) {\n") +
                             "  float sum = 0;\n  " + head + "\n    sum += a[i];\n" +
                             "  r[threadIdx.x] = sum;\n}\n";
    EXPECT_THAT(refusalsFor(askLoopSplit(text)), Contains("3: the loop does not count to a bound"))
        << head;
  }
}

TEST(LoopSplit, AStoreWithAnotherEffectIsRefused) {
  EXPECT_THAT(refusalsFor(askLoopSplit(rowSum("  float sum = 0;\n  int at = row;\n",
                                              "    sum += a[i];\n", "  r[at++] = sum;\n"))),
              Contains("9: the store changes something else, too"));
}

TEST(LoopSplit, AccumulatorsWithAnotherNameOrARoundingAreRefused) {
  EXPECT_THAT(
      refusalsFor(askLoopSplit(rowSum("  float sum = 0;\n  const float &seen = sum;\n",
                                      "    sum += a[i] * (seen > 3);\n", "  r[row] = sum;\n"))),
      Contains("8: the loop carries 'sum' to its next iteration"));
  EXPECT_THAT(refusalsFor(askLoopSplit(
                  rowSum("  int sum = 0;\n", "    sum += a[i];\n", "  r[row] = sum;\n"))),
              Contains("7: the loop carries 'sum' to its next iteration"))
      << "each turn cuts off a fraction";
}

TEST(LoopSplit, ALambdaThatRemembersIsRefused) {
  EXPECT_THAT(refusalsFor(askLoopSplit(rowSum("  float sum = 0, last = 0;\n  auto step = [&](float "
                                              "x) { float d = x - last; last = x; return d; };\n",
                                              "    sum += step(a[i]);\n", "  r[row] = sum;\n"))),
              Contains("8: the loop calls what may write to memory"));
}

} // namespace
} // namespace kopt::frontend::test
