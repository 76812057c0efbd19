// SPDX-License-Identifier: Apache-2.0
// Sums each segment of an array with one block and compares the sums with the CPU's. The three constants decide how
// the work is split; their first values are plausible and slow.
//
//   reduction [segments length]     exit status: 0 PASS, 1 FAIL, 2 usage, 77 no CUDA device
#include <kopt/kopt.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int BLOCK = 64; // threads of a block: a multiple of the warp size
constexpr int ITEMS = 1;  // elements a thread takes from each stretch of its segment
constexpr int UNROLL = 1; // how many of those the compiler lays out behind each other

// The sum over the threads of a warp, in lane 0.
__device__ float sumOfWarp(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
}

KOPT_TUNE("param BLOCK in 64..1024 pow2",
          "param ITEMS in 1..16 pow2",
          "param UNROLL in {1, 2, 4, 8}",
          "require UNROLL <= ITEMS",
          "require BLOCK * ITEMS <= 8192",
          "extent values = segments * length",
          "extent sums = segments",
          "fill values = uniform(0, 1)",
          "launch 256x131072: segments=256, length=131072 on cuda",
          "launch 4096x8192: segments=4096, length=8192 weight 0.5 on cuda",
          "launch 16x8192: segments=16, length=8192 on emulated",
          "launch 20x1000: segments=20, length=1000 weight 0.5 on emulated",
          "tolerance relative=1e-5 absolute=1e-5")
__global__ void sumSegments(const float *values, float *sums, int segments, int length) {
  const int segment = blockIdx.x;
  if (segment >= segments)
    return;
  const float *first = values + static_cast<long long>(segment) * length;

  float sum = 0;
  for (int base = threadIdx.x; base < length; base += BLOCK * ITEMS) {
#pragma unroll UNROLL
    for (int item = 0; item < ITEMS; ++item) {
      const int index = base + item * BLOCK;
      if (index < length)
        sum += first[index];
    }
  }

  __shared__ float partial[BLOCK / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  sum = sumOfWarp(sum);
  if (lane == 0)
    partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = sumOfWarp(lane < BLOCK / 32 ? partial[lane] : 0.0f);
    if (lane == 0)
      sums[segment] = sum;
  }
}

void launchSumSegments(const float *values, float *sums, int segments, int length) {
  sumSegments<<<segments, BLOCK>>>(values, sums, segments, length);
}

static void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "reduction: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

int main(int argc, char **argv) {
  const int segments = argc == 3 ? std::atoi(argv[1]) : 777;
  const int length = argc == 3 ? std::atoi(argv[2]) : 5001;
  if ((argc != 1 && argc != 3) || segments <= 0 || length <= 0 || segments > 1 << 20 || length > 1 << 20) {
    std::fprintf(stderr, "usage: reduction [segments length], each from 1 to 1048576\n");
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "reduction: no CUDA device answers\n");
    return 77;
  }

  const std::size_t count = static_cast<std::size_t>(segments) * length;
  std::vector<float> input(count), output(segments);
  for (std::size_t i = 0; i < count; ++i)
    input[i] = static_cast<float>((i * 2654435761u) % 2001) / 1000.0f - 1.0f;

  float *values = nullptr, *sums = nullptr;
  check(cudaMalloc(&values, count * sizeof(float)), "allocating the values");
  check(cudaMalloc(&sums, segments * sizeof(float)), "allocating the sums");
  check(cudaMemcpy(values, input.data(), count * sizeof(float), cudaMemcpyHostToDevice), "copying the values");
  check(cudaMemset(sums, 0xff, segments * sizeof(float)), "clearing the sums");
  launchSumSegments(values, sums, segments, length);
  check(cudaGetLastError(), "launching the kernel");
  check(cudaDeviceSynchronize(), "running the kernel");
  check(cudaMemcpy(output.data(), sums, segments * sizeof(float), cudaMemcpyDeviceToHost), "copying the sums");
  check(cudaFree(values), "freeing the values");
  check(cudaFree(sums), "freeing the sums");

  // Summing n floats in any order errs by at most about n * 2^-24 of the sum of magnitudes.
  int wrong = 0;
  for (int segment = 0; segment < segments; ++segment) {
    double sum = 0, magnitude = 0;
    for (int i = 0; i < length; ++i) {
      sum += input[static_cast<std::size_t>(segment) * length + i];
      magnitude += std::fabs(input[static_cast<std::size_t>(segment) * length + i]);
    }
    wrong += !(std::fabs(output[segment] - sum) <= magnitude * length / 16777216.0 + 1e-6);
  }
  std::printf("reduction %dx%d: %d of %d sums wrong\n%s\n", segments, length, wrong, segments,
              wrong == 0 ? "PASS" : "FAIL");
  return wrong == 0 ? 0 : 1;
}
