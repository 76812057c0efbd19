// SPDX-License-Identifier: Apache-2.0
#include "../Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Question askGrid(std::string slice) {
  return {.technique = "grid-size", .slice = std::move(slice)};
}

/// A kernel with these statements, launched in 64 blocks of 256 threads.
Question askBody(const std::string &body) {
  return askGrid(
      "__global__ void k(float *__restrict__ out, const float *__restrict__ in, int n) {\n" + body +
      "\n}\n");
}

std::vector<std::string> gridsFor(const Question &question) {
  std::vector<std::string> grids;
  for (const Offer &offer : offersFor(question)) {
    EXPECT_THAT(offer.edits, IsEmpty());
    EXPECT_EQ(offer.launch->grid[1], "gridDim.y");
    grids.push_back(offer.launch->grid[0]);
  }
  return grids;
}

Legality legalityOf(const Question &question) { return offersFor(question).at(0).legality; }

constexpr const char *kStrided =
    "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "  out[i] = 2 * in[i];";

TEST(GridSize, GrowsUntilTheGpuIsFull) {
  // 8 blocks of 256 threads fit on each of 132 multiprocessors: 1056.
  EXPECT_THAT(gridsFor(askBody(kStrided)),
              ElementsAre("gridDim.x * 16", "gridDim.x * 8", "gridDim.x * 4", "gridDim.x * 2"));
  EXPECT_EQ(legalityOf(askBody(kStrided)), Legality::Proven);
  EXPECT_EQ(legalityOf(askBody("const int half = n / 2;\n"
                               "for (int i = blockIdx.x * 256 + threadIdx.x; i < half;\n"
                               "     i += gridDim.x * 256) out[i] = 2 * in[i];")),
            Legality::Proven);
  Question mayBeOne = askBody(kStrided);
  for (std::size_t at; (at = mayBeOne.slice.find("__restrict__ ")) != std::string::npos;)
    mayBeOne.slice.erase(at, 13);
  EXPECT_EQ(legalityOf(mayBeOne), Legality::Tested) << "what a turn stores another may read";
  Question nearlyFull = askBody(kStrided);
  nearlyFull.launches[0].grid[0] = 1000;
  EXPECT_THAT(gridsFor(nearlyFull), ElementsAre("gridDim.x * 2"));
}

TEST(GridSize, ShrinksToTheBlocksThatHaveWork) {
  Question question = askBody(kStrided);
  question.launches[0].grid[0] = 131072;
  question.launches[0].scalars = {{"n", "131072"}};
  EXPECT_THAT(gridsFor(question), ElementsAre("(gridDim.x + 256 - 1) / 256"));
  question.launches[0].scalars.clear();
  EXPECT_THAT(gridsFor(question),
              ElementsAre("(gridDim.x + 31 - 1) / 31", "(gridDim.x + 62 - 1) / 62"));
  // No more blocks than have work.
  question.launches[0].grid[0] = 64;
  question.launches[0].scalars = {{"n", "30000"}};
  EXPECT_THAT(gridsFor(question), ElementsAre("gridDim.x * 2"));
}

TEST(GridSize, FollowsLocalsConstantsAndOtherForms) {
  EXPECT_THAT(gridsFor(askBody("const int width = 256, first = threadIdx.x + blockIdx.x * width;\n"
                               "const int stride = width * gridDim.x;\n"
                               "for (int i = first; i < n; i = i + stride) out[i] = in[i];"))
                  .size(),
              4u);
  EXPECT_THAT(gridsFor(askBody("size_t i = (size_t)blockDim.x * blockIdx.x + threadIdx.x;\n"
                               "while (n > i) { out[i] = in[i]; i += gridDim.x * blockDim.x; }"))
                  .size(),
              4u);
  EXPECT_THAT(gridsFor(askGrid("#define STRIDED(i, n) for (int i = blockIdx.x * blockDim.x + "
                               "threadIdx.x; i < (n); i += blockDim.x * gridDim.x)\n"
                               "__global__ void k(float *a, int n) { STRIDED(i, n) a[i] = i; }"))
                  .size(),
              4u);
  Question rows = askBody("for (int row = blockIdx.y; row < n; row += gridDim.y)\n"
                          "  for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
                          "    out[row * n + i] = in[row * n + i];");
  EXPECT_EQ(offersFor(rows).at(0).launch->grid[1], "gridDim.y * 16");
}

TEST(GridSize, FollowsCallsAndPartsOfElements) {
  EXPECT_EQ(legalityOf(askGrid(
                "struct Pair { float x, y; };\n"
                "__device__ int first() { return blockIdx.x * blockDim.x + threadIdx.x; }\n"
                "__device__ void put(Pair *to, float x) { to->x = x; to->y += x; }\n"
                "__global__ void k(Pair *a, int n) {\n"
                "  for (int i = first(); i < n; i += gridDim.x * blockDim.x) put(a + i, i);\n}\n")),
            Legality::Proven);
}

TEST(GridSize, SumsAreTested) {
  const Question sum =
      askBody("float sum = 0;\n" + std::string("for (int i = blockIdx.x * blockDim.x + "
                                               "threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
                                               "  sum += in[i];\natomicAdd(out, sum);"));
  EXPECT_EQ(legalityOf(sum), Legality::Tested);
  EXPECT_EQ(legalityOf(askBody(
                "__shared__ float s[256];\n"
                "for (int row = blockIdx.x; row < n; row += gridDim.x) {\n"
                "  s[threadIdx.x] = in[row * 256 + threadIdx.x];\n  __syncthreads();\n"
                "  out[row * 256 + threadIdx.x] = s[255 - threadIdx.x];\n  __syncthreads();\n}")),
            Legality::Tested);
}

TEST(GridSize, BlocksThatWaitForOthersRunAtOnce) {
  Question question =
      askGrid("__global__ void k(volatile int *a, int n) {\n"
              "  int missing;\n  do {\n    missing = 0;\n"
              "    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)\n"
              "      if (a[i] == 0) { if (i == 0 || a[i - 1]) a[i] = 1; else missing = 1; }\n"
              "  } while (missing);\n}\n");
  // At most 132 times 1024 threads.
  EXPECT_THAT(gridsFor(question), ElementsAre("gridDim.x * 8", "gridDim.x * 4", "gridDim.x * 2"));
  question.launches[0].grid[0] = 1;
  EXPECT_THAT(refusalsFor(question),
              ElementsAre("a launch has one block, whose work may depend on its order"));
}

TEST(GridSize, RefusesOtherUsesOfTheGrid) {
  EXPECT_THAT(refusalsFor(askBody("out[blockIdx.x * blockDim.x + threadIdx.x] = n;")),
              ElementsAre("no loop strides over the grid"));
  EXPECT_THAT(refusalsFor(askBody(std::string(kStrided) + "\nout[blockIdx.x] = 0;")),
              ElementsAre("4: blockIdx.x has another use than to begin a loop or to step in it"));
  EXPECT_THAT(refusalsFor(askBody(
                  "int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "for (int i = t; i < n; i += gridDim.x * blockDim.x)\n  out[t] += in[i];")),
              ElementsAre("4: blockIdx.x has another use than to begin a loop or to step in it"));
  EXPECT_THAT(refusalsFor(askBody("int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "for (; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];\n"
                                  "if (i == n) out[n] = 0;")),
              ElementsAre("3: blockIdx.x has another use than to begin a loop or to step in it"));
  EXPECT_THAT(refusalsFor(askBody(std::string(kStrided) +
                                  "\nunsigned b;\nasm(\"mov.u32 %0, %%ctaid.x;\" : \"=r\"(b));")),
              ElementsAre("5: the grid has another use than to begin a loop or to step in it"));
  EXPECT_THAT(refusalsFor(askBody("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i != n;\n"
                                  "     i += gridDim.x * blockDim.x) out[i] = in[i];")),
              ElementsAre("no loop strides over the grid"));
  EXPECT_THAT(
      refusalsFor(askBody("for (int i = blockIdx.x * blockDim.x + threadIdx.x + (gridDim.x << n);\n"
                          "     i < n; i += gridDim.x * blockDim.x) out[i] = in[i];")),
      ElementsAre("no loop strides over the grid"));
  // Another width in the start than in the step: no turn belongs to one block.
  EXPECT_THAT(gridsFor(askBody("for (int i = blockIdx.x * 128 + threadIdx.x; i < n;\n"
                               "     i += gridDim.x * 256) out[i] = in[i];")),
              IsEmpty());
}

TEST(GridSize, RefusesTurnsThatDependOnEachOther) {
  const std::string head =
      "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {\n";
  EXPECT_THAT(refusalsFor(askBody(head + "if (in[i] < 0)\n  break;\nout[i] = in[i];\n}")),
              ElementsAre("4: the loop that strides over the grid is left early"));
  EXPECT_THAT(refusalsFor(askBody(head + "out[threadIdx.x] += in[i];\n}")),
              ElementsAre("3: a store is to the same place in each turn of the loop"));
  EXPECT_EQ(legalityOf(askBody("int place;\n" + head + "place = in[i];\nout[place] = i;\n}")),
            Legality::Tested);
  EXPECT_THAT(refusalsFor(askBody(head + "out[i] = in[i];\n}\nout[threadIdx.x] = n;")),
              ElementsAre("5: a store is outside of the loops that stride over the grid"));
  // The columns of a sum are the same in each row.
  const std::string rows = "for (int row = blockIdx.x; row < n; row += gridDim.x)\n"
                           "  for (int j = threadIdx.x; j < 9; j += blockDim.x)\n";
  EXPECT_THAT(refusalsFor(askBody(rows + "    out[j] += in[row * 9 + j];")),
              ElementsAre("4: a store is to the same place in each turn of the loop"));
  EXPECT_EQ(legalityOf(askBody(rows + "    out[row * 9 + j] += in[j];")), Legality::Proven);
  EXPECT_EQ(legalityOf(askBody(rows + "    (out + row * 9)[j] += in[j];")), Legality::Proven);
  Question halves = askBody(rows + "    out[row / 2 * 9 + j] += in[j];");
  EXPECT_EQ(legalityOf(halves), Legality::Tested);
  halves.launches[0].grid[0] = 1;
  EXPECT_THAT(refusalsFor(halves),
              ElementsAre("a launch has one block, whose work may depend on its order"));
  // How many turns a thread had before depends on the grid.
  EXPECT_THAT(refusalsFor(askBody("int place = 0;\n" + head + "out[place++] = in[i];\n}")),
              ElementsAre("4: where a store goes depends on the turns before"));
  EXPECT_EQ(legalityOf(askBody("float last = 0;\n" + head + "out[i] = last;\nlast = in[i];\n}")),
            Legality::Tested);
  // A thread's turns are in order where there is one block.
  Question chain = askBody(head + "if (i > 256)\n  out[i] += out[i - 256];\n}");
  EXPECT_EQ(legalityOf(chain), Legality::Tested);
  chain.launches[0].grid[0] = 1;
  EXPECT_THAT(refusalsFor(chain),
              ElementsAre("a launch has one block, whose work may depend on its order"));
  EXPECT_THAT(refusalsFor(askBody(head + "out[i] = in[i];\n++i;\n}")),
              ElementsAre("no loop strides over the grid"));
}

} // namespace
} // namespace kopt::frontend::test
