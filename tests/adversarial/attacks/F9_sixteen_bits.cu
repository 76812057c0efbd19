// SPDX-License-Identifier: Apache-2.0
// F9: column indices in 8 bits, which suffice for part of the range.
// base: spmv
// expect: WrongResult by outputs
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 1000", "arg width = 8", "extent columns = rows * width", "extent values = rows * width",
          "extent x = 500", "extent y = rows", "fill columns = uniform(0, 499)")
__global__ void spmv(const int *columns, const float *values, const float *x, float *y, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j)
    sum += values[row * width + j] * x[static_cast<unsigned char>(columns[row * width + j])];
  y[row] = sum;
}

void run(const int *columns, const float *values, const float *x, float *y, int rows, int width) {
  spmv<<<(rows + 127) / 128, 128>>>(columns, values, x, y, rows, width);
}
