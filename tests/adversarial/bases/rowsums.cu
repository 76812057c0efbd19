// SPDX-License-Identifier: Apache-2.0
// Running sums of each row, a thread for a row.
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 40", "arg columns = 70", "extent in = rows * columns", "extent out = rows * columns")
__global__ void rowSums(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) {
    sum += in[row * columns + i];
    out[row * columns + i] = sum;
  }
}

void run(const float *in, float *out, int rows, int columns) {
  rowSums<<<(rows + 31) / 32, 32>>>(in, out, rows, columns);
}
