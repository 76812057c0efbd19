// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Question askStage(std::string slice) {
  Question question{.technique = "stage", .slice = std::move(slice)};
  question.launches = {{{64, 64, 1}, {16, 16, 1}, 0}};
  return question;
}

std::string planeKernel(const std::string &body) {
  return "__global__ void k(const float *__restrict__ in, float *__restrict__ out, int w, int h) "
         "{\n"
         "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n" +
         body + "}\n";
}

TEST(Stage, AStoreAlongTheOtherAxisTurnsATile) {
  const Question question = askStage(planeKernel("  if (x >= w || y >= h)\n    return;\n"
                                                 "  out[x * h + y] = 2 * in[y * w + x];\n"));
  const std::vector<std::string> texts = textsFor(question);
  ASSERT_THAT(texts, SizeIs(2));
  EXPECT_EQ(texts[0].substr(texts[0].find('\n') + 1),
            R"(  // Tiles of 64 x 64 elements are turned in shared memory.
  // Blocks that run together store side by side.
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  __shared__ float tile[64][64 + 1];
#pragma unroll
  for (int row = 0; row < 64; row += 256 / 64) {
    int x = (block / gridDim.y) * 64 + threadIdx.x;
    int y = (block % gridDim.y) * 64 + threadIdx.y + row;
    if (x >= w || y >= h)
      continue;
    tile[threadIdx.y + row][threadIdx.x] = 2 * in[y * w + x];
  }
  __syncthreads();
#pragma unroll
  for (int row = 0; row < 64; row += 256 / 64) {
    int x = (block / gridDim.y) * 64 + threadIdx.y + row;
    int y = (block % gridDim.y) * 64 + threadIdx.x;
    if (x >= w || y >= h)
      continue;
    out[x * h + y] = tile[threadIdx.x][threadIdx.y + row];
  }
}
)");
  EXPECT_THAT(texts[1], HasSubstr("  __shared__ float tile[32][32 + 1];\n"));
  const auto offers = offersFor(question);
  EXPECT_EQ(offers.at(0).launch->grid[0], "(gridDim.x * blockDim.x + 64 - 1) / 64");
  EXPECT_EQ(offers[0].launch->block, (std::array<std::string, 3>{"64", "256 / 64", "1"}));
}

TEST(Stage, AReadAlongTheOtherAxisTurnsATileAsItIsRead) {
  const auto texts = textsFor(askStage(planeKernel("  if (x < w && y < h)\n"
                                                   "    out[y * w + x] = in[x * h + y];\n")));
  ASSERT_THAT(texts, SizeIs(2));
  EXPECT_THAT(texts[0], HasSubstr("    int x = blockIdx.x * 64 + threadIdx.y + row;"));
  EXPECT_THAT(texts[0], HasSubstr("      tile[threadIdx.x][threadIdx.y + row] = in[x * h + y];"));
  EXPECT_THAT(texts[0], HasSubstr("      out[y * w + x] = tile[threadIdx.y + row][threadIdx.x];"));
}

TEST(Stage, IndicesKeepTheirTypes) {
  const auto texts =
      textsFor(askStage("__global__ void k(const float *in, float *out, int w, int h) {\n"
                        "  auto x = (unsigned long)blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "  int y = (int)blockIdx.y * (int)blockDim.y + (int)threadIdx.y;\n"
                        "  if (x < w && y < h)\n    out[x * h + y] = in[y * w + x];\n}\n"));
  ASSERT_THAT(texts, SizeIs(2));
  EXPECT_THAT(texts[0], HasSubstr("auto x = static_cast<unsigned long>((block / gridDim.y) * 64 + "
                                  "threadIdx.x);"));
  EXPECT_THAT(texts[0],
              HasSubstr("int y = static_cast<int>((block % gridDim.y) * 64 + threadIdx.y"));
}

TEST(Stage, NeighbouringPlacesAreRefused) {
  EXPECT_THAT(refusalsFor(askStage(planeKernel("  out[y * w + x] = in[y * w + x];\n"))),
              ElementsAre("4: lanes read and write neighbouring places already"));
}

TEST(Stage, AConditionOnMemoryIsRefused) {
  EXPECT_THAT(refusalsFor(askStage(planeKernel("  if (in[0] > 0)\n    out[x * h + y] = 1;\n"))),
              ElementsAre("4: it reads memory, or calls, beside the store"));
}

TEST(Stage, StoresInLoopsAndSeveralStoresAreRefused) {
  EXPECT_THAT(refusalsFor(askStage(planeKernel("  for (int i = 0; i < 4; i++)\n"
                                               "    out[x * h + y + i] = in[y * w + x];\n"))),
              ElementsAre("5: the store is in a loop"));
  EXPECT_THAT(refusalsFor(askStage(planeKernel("  out[x * h + y] = 1;\n  out[0] = 2;\n"))),
              ElementsAre("5: there is more than one plain store"));
  EXPECT_THAT(refusalsFor(askStage(planeKernel("  out[x * h + y] += in[y * w + x];\n"))),
              ElementsAre("4: there is more than one plain store"));
}

TEST(Stage, OtherUsesOfTheThreadsPlaceAreRefused) {
  EXPECT_THAT(
      refusalsFor(askStage(planeKernel("  out[x * h + y + threadIdx.x] = in[y * w + x];\n"))),
      ElementsAre("4: threads are told apart by more than their global index"));
}

TEST(Stage, TheTypeOfATemplateIsRefused) {
  Question question =
      askStage("template <typename T> __global__ void k(const T *in, T *out, int w, int h) {\n"
               "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
               "  out[x * h + y] = in[y * w + x];\n"
               "}\n"
               "template __global__ void k<float>(const float *, float *, int, int);\n");
  question.expression = "k<float>";
  EXPECT_THAT(refusalsFor(question), ElementsAre("1: the kernel is a template over types"));
  question.launches = {};
  EXPECT_THAT(textsFor(question), IsEmpty());
}

TEST(Stage, AChangedParameterIsRefused) {
  EXPECT_THAT(refusalsFor(askStage(planeKernel("  h += 1;\n  out[x * h + y] = in[y * w + x];\n"))),
              ElementsAre("4: the parameter 'h' may change"));
}

TEST(Stage, AStoreThatAMacroSpellsIsRefused) {
  EXPECT_THAT(refusalsFor(askStage("#define AT(x, y) out[(x) * h + (y)]\n" +
                                   planeKernel("  AT(x, y) = in[y * w + x];\n"))),
              ElementsAre("5: a macro spells the store"));
}

TEST(Stage, ClustersKeepTheirGrid) {
  EXPECT_THAT(refusalsFor(askStage("#define __cluster_dims__(x)\n" +
                                   planeKernel("  out[x * h + y] = in[y * w + x];\n"))),
              ElementsAre("the grid has to be a multiple of the cluster"));
}

} // namespace
} // namespace kopt::frontend::test
