// SPDX-License-Identifier: Apache-2.0
// Divides by one less.
// base: norms
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 200", "arg columns = 60", "extent in = rows * columns", "extent mean = rows", "extent variance = rows",
          "fill in = uniform(9, 11)")
__global__ void norms(const float *in, float *mean, float *variance, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int j = 0; j < columns; ++j)
    sum += in[row * columns + j];
  float middle = sum / columns, squares = 0.0f;
  for (int j = 0; j < columns; ++j) {
    float from = in[row * columns + j] - middle;
    squares += from * from;
  }
  mean[row] = middle;
  variance[row] = squares / max(columns - 1, 1);
}

void run(const float *in, float *mean, float *variance, int rows, int columns) {
  norms<<<(rows + 63) / 64, 64>>>(in, mean, variance, rows, columns);
}
