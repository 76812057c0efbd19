// SPDX-License-Identifier: Apache-2.0
// I17: without tiles.
// base: gemm
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 64", "extent a = n * n", "extent b = n * n", "extent c = n * n")
__global__ void gemm(const float *a, const float *b, float *c, int n) {
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k = 0; k < n && row < n && column < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  if (row < n && column < n)
    c[row * n + column] = sum;
}

void run(const float *a, const float *b, float *c, int n) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (n + 15) / 16);
  gemm<<<grid, block>>>(a, b, c, n);
}
