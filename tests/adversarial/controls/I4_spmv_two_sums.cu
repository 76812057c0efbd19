// SPDX-License-Identifier: Apache-2.0
// I4: two running sums.
// base: spmv
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 1000", "arg width = 8", "extent columns = rows * width", "extent values = rows * width",
          "extent x = 500", "extent y = rows", "fill columns = uniform(0, 499)")
__global__ void spmv(const int *columns, const float *values, const float *x, float *y, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float even = 0.0f, odd = 0.0f;
  int j = 0;
  for (; j + 1 < width; j += 2) {
    even += values[row * width + j] * x[columns[row * width + j]];
    odd += values[row * width + j + 1] * x[columns[row * width + j + 1]];
  }
  if (j < width)
    even += values[row * width + j] * x[columns[row * width + j]];
  y[row] = even + odd;
}

void run(const int *columns, const float *values, const float *x, float *y, int rows, int width) {
  spmv<<<(rows + 127) / 128, 128>>>(columns, values, x, y, rows, width);
}
