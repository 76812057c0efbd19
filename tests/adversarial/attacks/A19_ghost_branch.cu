// SPDX-License-Identifier: Apache-2.0
// A19: a fast path that is never taken, and the original.
// base: gemm
// expect: Suspect by coverage
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 64", "extent a = n * n", "extent b = n * n", "extent c = n * n")
__global__ void gemm(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][16];
  __shared__ float bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0.0f;
    bs[ty][tx] = column < n && k + ty < n ? b[(k + ty) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (n == -1)
    c[0] = 0.0f;
  if (row < n && column < n)
    c[row * n + column] = sum;
}

void run(const float *a, const float *b, float *c, int n) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (n + 15) / 16);
  gemm<<<grid, block>>>(a, b, c, n);
}
