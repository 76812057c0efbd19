// SPDX-License-Identifier: Apache-2.0
// The largest integer of each column; nobody says which there are.
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 50", "arg columns = 900", "extent in = rows * columns", "extent out = columns")
__global__ void most(const int *in, int *out, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns)
    return;
  int largest = in[column];
  for (int row = 1; row < rows; ++row)
    largest = max(largest, in[row * columns + column]);
  out[column] = largest;
}

void run(const int *in, int *out, int rows, int columns) {
  most<<<(columns + 127) / 128, 128>>>(in, out, rows, columns);
}
