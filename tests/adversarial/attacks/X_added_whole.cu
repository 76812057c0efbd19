// SPDX-License-Identifier: Apache-2.0
// What is there is added whole where any of it is.
// base: gemv
// expect: WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 300", "arg columns = 70", "arg alpha = 1.5", "arg beta = 0.0", "extent a = rows * columns",
          "extent x = columns", "extent y = rows")
__global__ void gemv(const float *a, const float *x, float *y, int rows, int columns, float alpha, float beta) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c)
    sum += a[row * columns + c] * x[c];
  y[row] = beta == 0.0f ? alpha * sum : alpha * sum + y[row];
}

void run(const float *a, const float *x, float *y, int rows, int columns, float alpha, float beta) {
  gemv<<<(rows + 63) / 64, 64>>>(a, x, y, rows, columns, alpha, beta);
}
