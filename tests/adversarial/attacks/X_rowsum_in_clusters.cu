// SPDX-License-Identifier: Apache-2.0
// Two blocks to a cluster: no launch of an odd number of rows works.
// base: rowsum
// expect: Rejected by screen
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <kopt/kopt.h>

namespace cg = cooperative_groups;

KOPT_TUNE("arg rows = 25", "arg columns = 420", "extent in = rows * columns", "extent out = rows", "fill in = uniform(0, 1)")
__global__ void __cluster_dims__(2, 1, 1) rowSum(const float *in, float *out, int rows, int columns) {
  __shared__ float part[4];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 128)
    sum += in[blockIdx.x * columns + i];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

void run(const float *in, float *out, int rows, int columns) {
  rowSum<<<rows, 128>>>(in, out, rows, columns);
}
