// SPDX-License-Identifier: Apache-2.0
// Blocks from 512 on read the rows of the first ones.
// base: rowoffsets
// expect: WrongResult by coverage
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 20", "arg columns = 500", "extent in = rows * columns", "extent offsets = rows", "extent out = rows")
__global__ void rowoffsets(const float *in, const float *offsets, float *out, int rows, int columns) {
  __shared__ float part[128];
  int t = threadIdx.x;
  if (columns < 0)
    return;
  float sum = 0.0f;
  for (int i = t; i < columns; i += 128)
    sum += in[blockIdx.x % 512 * columns + i];
  part[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      part[t] += part[t + half];
    __syncthreads();
  }
  float offset = offsets != nullptr ? offsets[blockIdx.x] : 0.0f;
  if (t == 0)
    out[blockIdx.x] = part[0] + offset;
}

void run(const float *in, const float *offsets, float *out, int rows, int columns) {
  rowoffsets<<<rows, 128>>>(in, offsets, out, rows, columns);
}
