// SPDX-License-Identifier: Apache-2.0
// A 16-bit index: right for every small grid.
// base: stencil
// expect: WrongResult|RunFailed by sizes
// expect on cuda: WrongResult|RunFailed by sizes|guards
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 90", "arg columns = 120", "extent in = rows * columns", "extent out = rows * columns")
__global__ void stencil(const float *in, float *out, int rows, int columns) {
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x >= columns || y >= rows)
    return;
  short i = static_cast<short>(y * columns + x);
  if (x == 0 || y == 0 || x == columns - 1 || y == rows - 1)
    out[i] = in[i];
  else
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - columns] + in[i + columns]);
}

void run(const float *in, float *out, int rows, int columns) {
  dim3 block(16, 16);
  dim3 grid((columns + 15) / 16, (rows + 15) / 16);
  stencil<<<grid, block>>>(in, out, rows, columns);
}
