// SPDX-License-Identifier: Apache-2.0
// The guard that the original has, which no declared number needs, asked once and elsewhere.
// base: gather
// expect: accepted
#include <kopt/kopt.h>

__device__ bool isRow(int row, int rows) { return !(row < 0 || row >= rows); }

KOPT_TUNE("arg n = 300", "arg width = 24", "arg rows = 70", "extent numbers = n", "extent table = rows * width",
          "extent out = n * width", "fill numbers = uniform(0, rows - 1)")
__global__ void gather(const int *numbers, const float *table, float *out, int n, int width, int rows) {
  int i = blockIdx.x * 4 + threadIdx.y;
  if (i >= n)
    return;
  const int row = __ldg(numbers + i);
  const bool known = isRow(row, rows);
  for (int c = threadIdx.x; c < width; c += 32)
    out[i * width + c] = known ? table[row * width + c] : 0.0f;
}

void run(const int *numbers, const float *table, float *out, int n, int width, int rows) {
  gather<<<(n + 3) / 4, dim3(32, 4)>>>(numbers, table, out, n, width, rows);
}
