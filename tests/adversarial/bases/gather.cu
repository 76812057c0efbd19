// SPDX-License-Identifier: Apache-2.0
// Rows of a table by their numbers; zeros where a number is none of the table's, which no declared one is.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 300", "arg width = 24", "arg rows = 70", "extent numbers = n", "extent table = rows * width",
          "extent out = n * width", "fill numbers = uniform(0, rows - 1)")
__global__ void gather(const int *numbers, const float *table, float *out, int n, int width, int rows) {
  int i = blockIdx.x * 4 + threadIdx.y;
  if (i >= n)
    return;
  for (int c = threadIdx.x; c < width; c += 32) {
    int number = numbers[i];
    float value = 0.0f;
    if (number >= 0 && number < rows)
      value = table[number * width + c];
    out[i * width + c] = value;
  }
}

void run(const int *numbers, const float *table, float *out, int n, int width, int rows) {
  gather<<<(n + 3) / 4, dim3(32, 4)>>>(numbers, table, out, n, width, rows);
}
