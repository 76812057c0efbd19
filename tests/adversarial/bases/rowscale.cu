// SPDX-License-Identifier: Apache-2.0
// Rows divided by their root mean square, a block for each: the threads' sums meet in a variable for each warp.
#include <kopt/kopt.h>

#define BLOCK 256

KOPT_TUNE("arg rows = 12", "arg columns = 700", "extent in = rows * columns", "extent out = rows * columns",
          "fill in = uniform(-2, 2)")
__global__ void rowscale(const float *in, float *out, int rows, int columns) {
  __shared__ float partial[BLOCK / 32];
  const float *row = in + blockIdx.x * columns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += BLOCK)
    sum += row[i] * row[i];
  for (int reach = 16; reach > 0; reach /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, reach);
  if (lane == 0)
    partial[warp] = sum;
  __syncthreads();
  sum = lane < BLOCK / 32 ? partial[lane] : 0.0f;
  for (int reach = 16; reach > 0; reach /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, reach);
  const float scale = rsqrtf(sum / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += BLOCK)
    out[blockIdx.x * columns + i] = row[i] * scale;
}

void run(const float *in, float *out, int rows, int columns) {
  rowscale<<<rows, BLOCK>>>(in, out, rows, columns);
}
