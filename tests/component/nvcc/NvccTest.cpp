// SPDX-License-Identifier: Apache-2.0
// nvcc accepts what Clang accepted: every offer for a few kernels, each in a namespace of its own,
// in one compilation.
#include "unit/clang_plugin/transform/Offers.h"

#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/parse/Toolkit.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace kopt::frontend::test {
namespace {

void expectNvccTakesEveryOffer(const std::string &name, Question question) {
  unsetenv("KOPT_CUDA_PATH");
  const auto toolkit = findCudaToolkit();
  if (!toolkit || !std::filesystem::exists(*toolkit + "/bin/nvcc"))
    GTEST_SKIP() << "no nvcc here";
  std::string program;
  unsigned variants = 0;
  for (const char *technique : {"launch-bounds", "unroll", "readonly-loads", "shared-padding"}) {
    question.technique = technique;
    for (const std::string &text : textsFor(question))
      program += "namespace v" + std::to_string(variants++) + " {\n" + text + "}\n";
  }
  ASSERT_GT(variants, 5u);
  const auto directory = std::filesystem::temp_directory_path() /
                         ("kopt-nvcc-test-" + name + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "offers.cu") << program;
  const std::string command =
      *toolkit + "/bin/nvcc -arch=sm_90 -cubin -o " + (directory / "offers.cubin").string() + " " +
      (directory / "offers.cu").string() + " 2> " + (directory / "log").string();
  const int status = std::system(command.c_str());
  std::ifstream log(directory / "log");
  EXPECT_EQ(status, 0) << std::string(std::istreambuf_iterator<char>(log), {}) << program;
  std::filesystem::remove_all(directory);
}

TEST(Nvcc, TakesOffersForATiledKernel) {
  expectNvccTakesEveryOffer("tiled", {.technique = "", .slice = R"(
#define TILE 32
__global__ void k(const float *in, float *out, int w, int h) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < w) for (int j = 0; j < TILE; j += 8)
    if (y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
#pragma unroll 2
  for (int j = 0; j < h; j += 8) out[x + j] = tile[threadIdx.x][threadIdx.y];
}
)"});
}

TEST(Nvcc, TakesOffersForATemplateWithBoundsAndAliases) {
  Question question{.technique = "", .slice = R"(
__device__ float sum(const float *p, int n) { float s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }
template <typename T, int N> __global__ void __launch_bounds__(N * 4, 2) k(const T *a, const int *index, const float4 *v, T *out) {
  __shared__ T t[2][N][N];
  const T *row = a + index[blockIdx.x];
  t[0][threadIdx.x % N][0] = row[threadIdx.x] + *a++;
  __syncthreads();
  for (int i = 0; i < N; ++i) out[i] = t[0][i][1] + v[index[i]].w + sum(a, i);
}
template __global__ void k<float, 16>(const float *, const int *, const float4 *, float *);
)"};
  question.expression = "k<float, 16>";
  expectNvccTakesEveryOffer("template", question);
}

TEST(Nvcc, TakesBoundsOnRedeclarations) {
  expectNvccTakesEveryOffer("redeclared", {.technique = "",
                                           .slice = R"(
namespace n { __global__ void k(float *a, float *b, int count); }
__global__ void n::k(float *a, float *b, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  do { for (int j = count; j > 0; --j) b[i] += a[j]; } while (--count);
}
)",
                                           .kernel = "n::k",
                                           .expression = "n::k"});
}

} // namespace
} // namespace kopt::frontend::test
