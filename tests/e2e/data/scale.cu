// SPDX-License-Identifier: Apache-2.0
// out = factor * in, with threads laid across the rows: simple to get right, slow as it stands, and easy to get wrong in ways a test can name.
#include <kopt/kopt.h>

constexpr int EDGE = 16;

KOPT_TUNE("arg rows = 500", "arg columns = 300", "arg factor = 2.5",
          "extent in = rows * columns", "extent out = rows * columns",
          "param EDGE in {8, 16, 32}")
__global__ void scale(const float *in, float *out, float factor, int rows, int columns) {
  int row = blockIdx.x * EDGE + threadIdx.x;
  int column = blockIdx.y * EDGE + threadIdx.y;
  if (row < rows && column < columns)
    out[row * columns + column] = factor * in[row * columns + column];
}

void run(const float *in, float *out, float factor, int rows, int columns) {
  dim3 block(EDGE, EDGE);
  dim3 grid((rows + EDGE - 1) / EDGE, (columns + EDGE - 1) / EDGE);
  scale<<<grid, block>>>(in, out, factor, rows, columns);
}
