// SPDX-License-Identifier: Apache-2.0
#include "../Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A kernel with these statements, launched in 40 times 30 blocks of 16 times 8 threads.
Question askSwap(const std::string &body) {
  return {.technique = "swap-axes",
          .slice =
              "__global__ void k(float *out, const float *in, int n, int m) {\n" + body + "}\n",
          .launches = {{{40, 30, 1}, {16, 8, 1}, 0}}};
}

constexpr const char *kRowsAlongX = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "  int j = blockIdx.y * blockDim.y + threadIdx.y;\n"
                                    "  if (i < n && j < m)\n"
                                    "    out[i * m + j] = 2 * in[i * m + j];\n";

TEST(SwapAxes, ExchangesTextAndLaunch) {
  const Question question = askSwap(kRowsAlongX);
  EXPECT_THAT(
      textsFor(question),
      ElementsAre("__global__ void k(float *out, const float *in, int n, int m) {\n"
                  "  // x and y are exchanged, here and in the launch: a warp's elements lie "
                  "side by side.\n"
                  "  int i = blockIdx.y * blockDim.y + threadIdx.y;\n"
                  "  int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "  if (i < n && j < m)\n"
                  "    out[i * m + j] = 2 * in[i * m + j];\n}\n"));
  const Offer offer = offersFor(question).at(0);
  EXPECT_EQ(offer.legality, Legality::Proven);
  EXPECT_THAT(offer.launch->grid, ElementsAre("gridDim.y", "gridDim.x", "gridDim.z"));
  EXPECT_THAT(offer.launch->block, ElementsAre("blockDim.y", "blockDim.x", "blockDim.z"));
}

TEST(SwapAxes, ExchangesEveryUse) {
  EXPECT_THAT(
      textsFor(askSwap("out[threadIdx.x * gridDim.x * gridDim.z + threadIdx.y] = blockIdx.z;")),
      ElementsAre(testing::HasSubstr(
          "out[threadIdx.y * gridDim.y * gridDim.z + threadIdx.x] = blockIdx.z;")));
}

TEST(SwapAxes, LeavesAxesThatAreRightAlone) {
  const std::vector<std::string> reason = {
      "no access has neighbours along y side by side, and those along x apart"};
  EXPECT_EQ(refusalsFor(askSwap("out[threadIdx.y * m + threadIdx.x] = 1;")), reason);
  EXPECT_EQ(refusalsFor(askSwap("out[threadIdx.y + threadIdx.x] = 1;")), reason);
  EXPECT_EQ(refusalsFor(askSwap("out[threadIdx.y] = 1;")), reason);
  Question question = askSwap(kRowsAlongX);
  question.slice = textsFor(question).at(0);
  EXPECT_EQ(refusalsFor(question), reason);
  question.launches = {{{40, 1, 1}, {64, 1, 1}, 0}};
  EXPECT_THAT(refusalsFor(question), ElementsAre("it is launched along x alone"));
}

TEST(SwapAxes, RefusesWhatDependsOnThePlacesOfThreads) {
  EXPECT_THAT(refusalsFor(askSwap("__syncthreads();\n" + std::string(kRowsAlongX))),
              ElementsAre("2: the kernel waits for other threads"));
  Question macros = askSwap("out[X * m + threadIdx.y] = 1;\n");
  macros.slice = "#define X threadIdx.x\n" + macros.slice;
  EXPECT_THAT(refusalsFor(macros), ElementsAre("3: a macro spells threadIdx"));
  Question large = askSwap(kRowsAlongX);
  large.launches[0].grid[0] = 65536;
  EXPECT_THAT(refusalsFor(large),
              ElementsAre("a launch has more blocks along x than there may be along y"));
}

} // namespace
} // namespace kopt::frontend::test
