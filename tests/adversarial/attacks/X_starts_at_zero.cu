// SPDX-License-Identifier: Apache-2.0
// The largest so far begins as 0: rows of negative numbers.
// base: argmax
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 300", "arg columns = 40", "extent in = rows * columns", "extent best = rows", "fill in = uniform(-1, 1)")
__global__ void argmax(const float *in, int *best, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int at = 0;
  float most = 0.0f;
  for (int j = 0; j < columns; ++j)
    if (in[row * columns + j] > most) {
      at = j;
      most = in[row * columns + j];
    }
  best[row] = at;
}

void run(const float *in, int *best, int rows, int columns) {
  argmax<<<(rows + 63) / 64, 64>>>(in, best, rows, columns);
}
