// SPDX-License-Identifier: Apache-2.0
// Two stages of asynchronous copies.
// base: rowsum
// expect: accepted
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <kopt/kopt.h>

namespace cg = cooperative_groups;

KOPT_TUNE("arg rows = 25", "arg columns = 420", "extent in = rows * columns", "extent out = rows", "fill in = uniform(0, 1)")
__global__ void rowSum(const float *in, float *out, int rows, int columns) {
  __shared__ float stage[2][128], part[4];
  int t = threadIdx.x, stages = (columns + 127) / 128;
  const float *row = in + blockIdx.x * columns;
  float sum = 0.0f;
  if (t < columns)
    __pipeline_memcpy_async(&stage[0][t], row + t, 4);
  __pipeline_commit();
  for (int s = 0; s < stages; ++s) {
    int next = (s + 1) * 128 + t;
    if (next < columns)
      __pipeline_memcpy_async(&stage[(s + 1) % 2][t], row + next, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    if (s * 128 + t < columns)
      sum += stage[s % 2][t]; // what it copied itself
  }
  for (int reach = 16; reach > 0; reach /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, reach);
  if (t % 32 == 0)
    part[t / 32] = sum;
  __syncthreads();
  if (t == 0)
    out[blockIdx.x] = (part[0] + part[1]) + (part[2] + part[3]);
}

void run(const float *in, float *out, int rows, int columns) {
  rowSum<<<rows, 128>>>(in, out, rows, columns);
}
