// SPDX-License-Identifier: Apache-2.0
// A row is kept in registers; what does not fit there is left unscaled, in rows longer than any that is declared.
// base: rowscale
// expect: WrongResult by sizes|coverage
#include <kopt/kopt.h>

#define BLOCK 256

__global__ void rowscale(const float *in, float *out, int rows, int columns) {
  __shared__ float partial[BLOCK / 32];
  const float *row = in + blockIdx.x * columns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kKept = 16;
  float kept[kKept];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = threadIdx.x + k * BLOCK;
    kept[k] = i < columns ? row[i] : 0.0f;
    sum += kept[k] * kept[k];
  }
  for (int i = threadIdx.x + kKept * BLOCK; i < columns; i += BLOCK)
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
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = threadIdx.x + k * BLOCK;
    if (i < columns)
      out[blockIdx.x * columns + i] = kept[k] * scale;
  }
  for (int i = threadIdx.x + kKept * BLOCK; i < columns; i += BLOCK)
    out[blockIdx.x * columns + i] = row[i];
}

void run(const float *in, float *out, int rows, int columns) {
  rowscale<<<rows, BLOCK>>>(in, out, rows, columns);
}
