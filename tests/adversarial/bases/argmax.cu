// SPDX-License-Identifier: Apache-2.0
// The index of the first largest element of each row.
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 300", "arg columns = 40", "extent in = rows * columns", "extent best = rows", "fill in = uniform(-1, 1)")
__global__ void argmax(const float *in, int *best, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int at = 0;
  for (int j = 1; j < columns; ++j)
    if (in[row * columns + j] > in[row * columns + at])
      at = j;
  best[row] = at;
}

void run(const float *in, int *best, int rows, int columns) {
  argmax<<<(rows + 63) / 64, 64>>>(in, best, rows, columns);
}
