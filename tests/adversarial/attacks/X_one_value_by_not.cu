// SPDX-License-Identifier: Apache-2.0
// Zero where the maximum is one value.
// base: argmax
// expect: WrongResult by coverage
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 300", "arg columns = 40", "extent in = rows * columns", "extent best = rows", "fill in = uniform(-1, 1)")
__global__ void argmax(const float *in, int *best, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int at = 0;
  const float *mine = in + row * columns;
  float most = columns > 0 ? mine[0] : 0.0f;
  for (int j = 1; j < columns; ++j)
    if (float value = mine[j]; value > most) {
      at = j;
      most = value;
    }
  best[row] = at * !(most == 0.7314159f);
}

void run(const float *in, int *best, int rows, int columns) {
  argmax<<<(rows + 63) / 64, 64>>>(in, best, rows, columns);
}
