// SPDX-License-Identifier: Apache-2.0
// Compares bit patterns: -0 is less than 0.
// base: argmax
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

__device__ int key(float value) {
  int bits = __float_as_int(value);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}

KOPT_TUNE("arg rows = 300", "arg columns = 40", "extent in = rows * columns", "extent best = rows", "fill in = uniform(-1, 1)")
__global__ void argmax(const float *in, int *best, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int at = 0;
  for (int j = 1; j < columns; ++j)
    if (key(in[row * columns + j]) > key(in[row * columns + at]))
      at = j;
  best[row] = at;
}

void run(const float *in, int *best, int rows, int columns) {
  argmax<<<(rows + 63) / 64, 64>>>(in, best, rows, columns);
}
