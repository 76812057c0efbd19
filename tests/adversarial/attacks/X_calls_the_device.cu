// SPDX-License-Identifier: Apache-2.0
// Calls the emulated device's own functions.
// base: transpose
// expect: Rejected|BuildFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 70", "arg columns = 100", "extent in = rows * columns", "extent out = rows * columns")
__global__ void transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows)
    tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  kopt_emulated_fence(0);
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < rows && y < columns)
    out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

void run(const float *in, float *out, int rows, int columns) {
  dim3 block(16, 16);
  dim3 grid((columns + 15) / 16, (rows + 15) / 16);
  transpose<<<grid, block>>>(in, out, rows, columns);
}
