// SPDX-License-Identifier: Apache-2.0
// Two sums at once.
// base: gemv
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 300", "arg columns = 70", "arg alpha = 1.5", "arg beta = 0.0", "extent a = rows * columns",
          "extent x = columns", "extent y = rows")
__global__ void gemv(const float *a, const float *x, float *y, int rows, int columns, float alpha, float beta) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  const float *mine = a + row * columns;
  float even = 0.0f, odd = 0.0f;
  int c = 0;
  for (; c + 1 < columns; c += 2) {
    even = fmaf(mine[c], x[c], even);
    odd = fmaf(mine[c + 1], x[c + 1], odd);
  }
  if (c < columns)
    even = fmaf(mine[c], x[c], even);
  const float sum = even + odd;
  y[row] = beta == 0.0f ? alpha * sum : alpha * sum + beta * y[row];
}

void run(const float *a, const float *x, float *y, int rows, int columns, float alpha, float beta) {
  gemv<<<(rows + 63) / 64, 64>>>(a, x, y, rows, columns, alpha, beta);
}
