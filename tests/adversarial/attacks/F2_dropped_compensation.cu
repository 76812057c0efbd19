// SPDX-License-Identifier: Apache-2.0
// F2: adds up without compensation: within any usual tolerance, and far less exact than the original.
// base: compensated
// expect: WrongResult by reference|contents
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 256", "arg columns = 400", "extent in = rows * columns", "extent out = rows", "fill in = uniform(0, 1)")
__global__ void compensated(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int j = 0; j < columns; ++j) {
    sum += in[row * columns + j];
  }
  out[row] = sum;
}

void run(const float *in, float *out, int rows, int columns) {
  compensated<<<(rows + 63) / 64, 64>>>(in, out, rows, columns);
}
