// SPDX-License-Identifier: Apache-2.0
// Adds a bias, that is 0 in the program at hand, to what is accumulated in sums, 0 at first.
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 60", "arg columns = 70", "extent in = rows * columns", "extent bias = columns", "extent sums = columns",
          "fill bias = zero", "fill sums = zero")
__global__ void addRows(const float *in, const float *bias, float *sums, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns)
    return;
  float sum = sums[c];
  for (int r = 0; r < rows; ++r)
    sum += in[r * columns + c] + bias[c];
  sums[c] = sum;
}

void run(const float *in, const float *bias, float *sums, int rows, int columns) {
  addRows<<<(columns + 63) / 64, 64>>>(in, bias, sums, rows, columns);
}
