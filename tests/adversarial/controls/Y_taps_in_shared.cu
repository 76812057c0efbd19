// SPDX-License-Identifier: Apache-2.0
// The row and its ends in shared memory.
// base: taps
// expect: accepted
#include <kopt/kopt.h>

constexpr int kRadius = 3;
__constant__ float taps[2 * kRadius + 1];

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n")
__global__ void filter(const float *in, float *out, int n) {
  __shared__ float row[1024 + 2 * kRadius];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int at = threadIdx.x; at < blockDim.x + 2 * kRadius; at += blockDim.x) {
    int from = int(blockIdx.x * blockDim.x) + at - kRadius;
    row[at] = from >= 0 && from < n ? in[from] : 0.0f;
  }
  __syncthreads();
  if (i >= n)
    return;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k <= 2 * kRadius; ++k)
    if (i + k >= kRadius && i + k < n + kRadius)
      sum += taps[k] * row[threadIdx.x + k];
  out[i] = sum;
}

void run(const float *in, float *out, const float *host, int n) {
  cudaMemcpyToSymbol(taps, host, sizeof taps);
  filter<<<(n + 127) / 128, 128>>>(in, out, n);
}
