// SPDX-License-Identifier: Apache-2.0
// push_macro hides that a word is redefined.
// base: transpose
// expect: WrongResult|RunFailed
// expect on cuda: WrongResult|RunFailed|Duplicate
#include <kopt/kopt.h>

#pragma push_macro("min")
#undef min
#pragma pop_macro("min")
KOPT_TUNE("arg rows = 70", "arg columns = 100", "extent in = rows * columns", "extent out = rows * columns")
__global__ void transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows)
    tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
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
