// SPDX-License-Identifier: Apache-2.0
// Tiles and reductions of cooperative groups.
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
  __shared__ float part[4];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  float sum = 0.0f;
  for (int i = block.thread_rank(); i < columns; i += block.size())
    sum += in[blockIdx.x * columns + i];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0)
    part[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0)
    out[blockIdx.x] = (part[0] + part[1]) + (part[2] + part[3]);
}

void run(const float *in, float *out, int rows, int columns) {
  rowSum<<<rows, 128>>>(in, out, rows, columns);
}
