// SPDX-License-Identifier: Apache-2.0
#include "../Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char *kHead = "__global__ void k(float *out, const float *in, int n) {\n";

/// A kernel with these statements, launched in blocks of 256 threads.
Question askCoarsen(const std::string &body) {
  return {.technique = "coarsen",
          .slice = kHead + body + "}\n",
          .launches = {{{4096, 1, 1}, {256, 1, 1}, 0}}};
}

/// The first text.
std::string firstFor(const Question &question) {
  const std::vector<std::string> texts = textsFor(question);
  return texts.empty() ? "" : texts.front();
}

TEST(Coarsen, PutsTheBodyIntoALoop) {
  const Question question = askCoarsen("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                       "  if (i >= n)\n    return;\n\n"
                                       "  out[i] = 2 * in[i]; // twice\n");
  EXPECT_EQ(
      firstFor(question),
      kHead +
          std::string(
              "  // Each thread has 4 elements, a block apart; blocks have that many times fewer "
              "threads.\n"
              "#pragma unroll\n"
              "  for (int part = 0; part < 4; ++part) {\n"
              "    int i = blockIdx.x * (blockDim.x * 4) + threadIdx.x + part * blockDim.x;\n"
              "    if (i >= n)\n      continue;\n\n"
              "    out[i] = 2 * in[i]; // twice\n  }\n}\n"));
  const std::vector<Offer> offers = offersFor(question);
  ASSERT_EQ(offers.size(), 3u);
  EXPECT_EQ(offers[0].legality, Legality::Proven);
  EXPECT_THAT(offers[1].launch->block, ElementsAre("blockDim.x / 2", "blockDim.y", "blockDim.z"));
  EXPECT_EQ(offers[1].launch->grid[0], "");
}

TEST(Coarsen, NamesAnIndexThatIsUsedOften) {
  EXPECT_EQ(
      firstFor(askCoarsen("#pragma unroll\n  for (int part = 0; part < 2; ++part)\n"
                          "    out[threadIdx.x + 256 * part] = in[threadIdx.x];\n")),
      kHead +
          std::string(
              "  // Each thread has 4 elements, a block apart; blocks have that many times fewer "
              "threads.\n"
              "#pragma unroll\n"
              "  for (int part2 = 0; part2 < 4; ++part2) {\n"
              "    const unsigned thread = threadIdx.x + part2 * blockDim.x;\n"
              "#pragma unroll\n    for (int part = 0; part < 2; ++part)\n"
              "      out[thread + 256 * part] = in[thread];\n  }\n}\n"));
}

TEST(Coarsen, TakesOneLineAndOtherExpressions) {
  Question question = askCoarsen("");
  question.slice = "__global__ void k(float *a) { a[blockIdx.x * 256 + (threadIdx.x ^ 1)] = .5f + "
                   "threadIdx.y; }\n";
  EXPECT_THAT(
      firstFor(question),
      HasSubstr("{\n    a[blockIdx.x * 256 + ((threadIdx.x + part * blockDim.x) ^ 1)] = .5f + "
                "threadIdx.y;\n  }\n}\n"));
  question.launches[0].block = {32, 8, 1};
  EXPECT_THAT(firstFor(question), HasSubstr(".5f + (threadIdx.y + part * blockDim.y);"));
}

TEST(Coarsen, ChoosesAxesThatBlocksCanBeDividedAlong) {
  Question question =
      askCoarsen("  out[(blockIdx.y * blockDim.y + threadIdx.y) * n + threadIdx.x] = 0;\n");
  question.launches[0].block = {32, 8, 1};
  EXPECT_THAT(titlesFor(question), ElementsAre("give each thread 4 elements of its block along y",
                                               "give each thread 2 elements of its block along y",
                                               "give each thread 8 elements of its block along y"));
  question.launches.push_back(question.launches[0]);
  question.launches[1].block = {64, 6, 1};
  EXPECT_THAT(titlesFor(question), ElementsAre("give each thread 2 elements of its block along y"));
  question.launches[1].block = {64, 3, 1};
  EXPECT_THAT(
      refusalsFor(question),
      ElementsAre("the launches are too small, or their blocks not to be divided, along y",
                  "the launches are too small, or their blocks not to be divided, along x"));
}

TEST(Coarsen, ReturnsOfLambdasStay) {
  EXPECT_THAT(firstFor(askCoarsen("  auto twice = [](float x) { return 2 * x; };\n"
                                  "  out[threadIdx.x] = twice(in[threadIdx.x]);\n")),
              HasSubstr("{ return 2 * x; };"));
}

TEST(Coarsen, RefusesWhatOutlivesAThread) {
  EXPECT_THAT(refusalsFor(askCoarsen("  while (n > 3)\n    return;\n  out[threadIdx.x] = 1;\n")),
              ElementsAre("3: it returns from within a loop"));
  EXPECT_THAT(refusalsFor(askCoarsen("  out += blockIdx.x;\n  out[threadIdx.x] = 1;\n")),
              ElementsAre("2: the parameter 'out' may change"));
  EXPECT_THAT(refusalsFor(askCoarsen("  out[threadIdx.x] = 1;\n  goto end;\nend:;\n")),
              ElementsAre("3: the kernel has a goto"));
  EXPECT_THAT(refusalsFor(askCoarsen("  __shared__ float s[256];\n  s[threadIdx.x] = 1;\n")),
              ElementsAre("3: the kernel uses shared memory"));
}

TEST(Coarsen, RefusesThreadsThatWaitForOthers) {
  const std::string store = "  out[threadIdx.x] = 1;\n";
  EXPECT_THAT(refusalsFor(askCoarsen("  while (atomicAdd((int *)out, 0) == 0)\n    ;\n" + store)),
              ElementsAre("2: the kernel may wait for what another thread does by an atomic"));
  // It succeeds in the end, whatever others do.
  EXPECT_THAT(textsFor(askCoarsen("  int old = n, seen;\n  do {\n    seen = old;\n"
                                  "    old = atomicCAS((int *)out, seen, seen + 1);\n"
                                  "  } while (old != seen);\n" +
                                  store)),
              SizeIs(3));
  EXPECT_THAT(
      refusalsFor(askCoarsen("  while (atomicCAS((int *)out, 0, 1) != 0)\n    ;\n" + store)),
      ElementsAre("2: the kernel may wait for what another thread does by an atomic"));
  EXPECT_THAT(textsFor(askCoarsen("  int i = threadIdx.x;\n  while (i < n) {\n"
                                  "    atomicAdd(out + i, 1.0f);\n    i += 100;\n  }\n")),
              SizeIs(3));
}

TEST(Coarsen, LetsThreadsPrint) {
  Question question = askCoarsen("  if (threadIdx.x < n)\n    printf(\"%d\", threadIdx.x);\n");
  question.slice = "extern \"C\" __device__ int printf(const char *, ...);\n" + question.slice;
  EXPECT_THAT(textsFor(question), SizeIs(3));
}

TEST(Coarsen, LeavesSmallLaunchesAlone) {
  Question question = askCoarsen("  out[threadIdx.x] = 1;\n");
  question.launches[0].grid[0] = 132;
  EXPECT_THAT(titlesFor(question), ElementsAre("give each thread 2 elements of its block along x"));
}

TEST(Coarsen, RefusesCoordinatesThatItCannotReplace) {
  Question question = askCoarsen("  out[at()] = 1;\n  out[threadIdx.x] = 1;\n");
  question.slice = "__device__ int at() {\n  return threadIdx.x;\n}\n" + question.slice;
  EXPECT_THAT(refusalsFor(question),
              ElementsAre("2: a function that it calls asks which thread it is"));
  question = askCoarsen("  out[AT] = 1;\n");
  question.slice = "#define AT threadIdx.x\n" + question.slice;
  EXPECT_THAT(refusalsFor(question), ElementsAre("3: a macro spells threadIdx"));
}

TEST(Coarsen, RefusesASecondTime) {
  Question question = askCoarsen("  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;\n");
  question.slice = firstFor(question);
  EXPECT_THAT(refusalsFor(question),
              Contains(HasSubstr("threads have several elements along x already")));
  EXPECT_THAT(textsFor(question), IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
