// SPDX-License-Identifier: Apache-2.0
// The mean of each row, added up by one thread.
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 60", "arg columns = 200", "extent in = rows * columns", "extent mean = rows", "fill in = uniform(-1, 1)")
__global__ void rowMeans(const float *in, float *mean, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int j = 0; j < columns; ++j)
    sum += in[row * columns + j];
  mean[row] = sum / columns;
}

void run(const float *in, float *mean, int rows, int columns) {
  rowMeans<<<(rows + 31) / 32, 32>>>(in, mean, rows, columns);
}
