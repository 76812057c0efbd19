// SPDX-License-Identifier: Apache-2.0
// I3: a tile with its rim in shared memory.
// base: stencil
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 90", "arg columns = 120", "extent in = rows * columns", "extent out = rows * columns")
__global__ void stencil(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[18][18];
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int i = y * columns + x;
  if (x < columns && y < rows) {
    tile[ty][tx] = in[i];
    if (tx == 1 && x > 0)
      tile[ty][0] = in[i - 1];
    if ((tx == 16 || x == columns - 1) && x < columns - 1)
      tile[ty][tx + 1] = in[i + 1];
    if (ty == 1 && y > 0)
      tile[0][tx] = in[i - columns];
    if ((ty == 16 || y == rows - 1) && y < rows - 1)
      tile[ty + 1][tx] = in[i + columns];
  }
  __syncthreads();
  if (x >= columns || y >= rows)
    return;
  if (x == 0 || y == 0 || x == columns - 1 || y == rows - 1)
    out[i] = in[i];
  else
    out[i] = 0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

void run(const float *in, float *out, int rows, int columns) {
  dim3 block(16, 16);
  dim3 grid((columns + 15) / 16, (rows + 15) / 16);
  stencil<<<grid, block>>>(in, out, rows, columns);
}
