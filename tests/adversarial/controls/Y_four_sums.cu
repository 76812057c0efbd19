// SPDX-License-Identifier: Apache-2.0
// Four sums: what takes each other back in the order of the original does not in this one.
// base: means
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 60", "arg columns = 200", "extent in = rows * columns", "extent mean = rows", "fill in = uniform(-1, 1)")
__global__ void rowMeans(const float *in, float *mean, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  int j = 0;
  for (; j + 4 <= columns; j += 4)
    for (int k = 0; k < 4; ++k)
      sums[k] += in[row * columns + j + k];
  for (; j < columns; ++j)
    sums[0] += in[row * columns + j];
  float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  mean[row] = sum / columns;
}

void run(const float *in, float *mean, int rows, int columns) {
  rowMeans<<<(rows + 31) / 32, 32>>>(in, mean, rows, columns);
}
