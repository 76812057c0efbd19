// SPDX-License-Identifier: Apache-2.0
// Without a tile: each thread reads across.
// base: transpose
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 70", "arg columns = 100", "extent in = rows * columns", "extent out = rows * columns")
__global__ void transpose(const float *in, float *out, int rows, int columns) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows)
    out[x * rows + y] = in[y * columns + x];
}

void run(const float *in, float *out, int rows, int columns) {
  dim3 block(16, 16);
  dim3 grid((columns + 15) / 16, (rows + 15) / 16);
  transpose<<<grid, block>>>(in, out, rows, columns);
}
