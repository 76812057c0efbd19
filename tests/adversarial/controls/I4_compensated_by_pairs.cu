// SPDX-License-Identifier: Apache-2.0
// I4: two compensated sums.
// base: compensated
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 256", "arg columns = 400", "extent in = rows * columns", "extent out = rows", "fill in = uniform(0, 1)")
__global__ void compensated(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sums[2] = {0.0f, 0.0f}, lost[2] = {0.0f, 0.0f};
  for (int j = 0; j < columns; ++j) {
    float value = in[row * columns + j] - lost[j % 2];
    float next = sums[j % 2] + value;
    lost[j % 2] = (next - sums[j % 2]) - value;
    sums[j % 2] = next;
  }
  out[row] = (sums[0] - lost[0]) + (sums[1] - lost[1]);
}

void run(const float *in, float *out, int rows, int columns) {
  compensated<<<(rows + 63) / 64, 64>>>(in, out, rows, columns);
}
