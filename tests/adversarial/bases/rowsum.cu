// SPDX-License-Identifier: Apache-2.0
// The sum of each row, by a tree in shared memory. The file has headers that the kernel does without.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <kopt/kopt.h>

namespace cg = cooperative_groups;

KOPT_TUNE("arg rows = 25", "arg columns = 420", "extent in = rows * columns", "extent out = rows", "fill in = uniform(0, 1)")
__global__ void rowSum(const float *in, float *out, int rows, int columns) {
  __shared__ float part[128];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 128)
    sum += in[blockIdx.x * columns + i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = part[0];
}

void run(const float *in, float *out, int rows, int columns) {
  rowSum<<<rows, 128>>>(in, out, rows, columns);
}
