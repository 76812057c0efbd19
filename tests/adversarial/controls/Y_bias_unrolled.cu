// SPDX-License-Identifier: Apache-2.0
// Two accumulators and a remainder.
// base: bias
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 60", "arg columns = 70", "extent in = rows * columns", "extent bias = columns", "extent sums = columns",
          "fill bias = zero", "fill sums = zero")
__global__ void addRows(const float *in, const float *bias, float *sums, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns)
    return;
  float sum = sums[c];
  float other = 0.0f;
  int r = 0;
  for (; r + 1 < rows; r += 2) {
    sum += in[r * columns + c] + bias[c];
    other += in[(r + 1) * columns + c] + bias[c];
  }
  if (r < rows)
    sum += in[r * columns + c] + bias[c];
  sums[c] = sum + other;
}

void run(const float *in, const float *bias, float *sums, int rows, int columns) {
  addRows<<<(columns + 63) / 64, 64>>>(in, bias, sums, rows, columns);
}
