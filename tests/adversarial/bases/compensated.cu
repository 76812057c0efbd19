// SPDX-License-Identifier: Apache-2.0
// Sums of rows, compensated: far more exact than adding up.
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 256", "arg columns = 400", "extent in = rows * columns", "extent out = rows", "fill in = uniform(0, 1)")
__global__ void compensated(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f, lost = 0.0f;
  for (int j = 0; j < columns; ++j) {
    float value = in[row * columns + j] - lost;
    float next = sum + value;
    lost = (next - sum) - value;
    sum = next;
  }
  out[row] = sum;
}

void run(const float *in, float *out, int rows, int columns) {
  compensated<<<(rows + 63) / 64, 64>>>(in, out, rows, columns);
}
