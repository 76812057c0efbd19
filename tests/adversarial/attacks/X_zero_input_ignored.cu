// SPDX-License-Identifier: Apache-2.0
// An input that is 0 in the program is not read.
// base: bias
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 60", "arg columns = 70", "extent in = rows * columns", "extent bias = columns", "extent sums = columns",
          "fill bias = zero", "fill sums = zero")
__global__ void addRows(const float *in, const float *bias, float *sums, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns)
    return;
  float sum = sums[c];
  for (int r = 0; r < rows; ++r)
    sum += in[r * columns + c];
  sums[c] = sum;
}

void run(const float *in, const float *bias, float *sums, int rows, int columns) {
  addRows<<<(columns + 63) / 64, 64>>>(in, bias, sums, rows, columns);
}
