// SPDX-License-Identifier: Apache-2.0
// The mean of squares less the square of the mean: cancels.
// base: norms
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 200", "arg columns = 60", "extent in = rows * columns", "extent mean = rows", "extent variance = rows",
          "fill in = uniform(9, 11)")
__global__ void norms(const float *in, float *mean, float *variance, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f, squares = 0.0f;
  for (int j = 0; j < columns; ++j)
    sum += in[row * columns + j], squares += in[row * columns + j] * in[row * columns + j];
  float middle = sum / columns;
  mean[row] = middle;
  variance[row] = squares / columns - middle * middle;
}

void run(const float *in, float *mean, float *variance, int rows, int columns) {
  norms<<<(rows + 63) / 64, 64>>>(in, mean, variance, rows, columns);
}
