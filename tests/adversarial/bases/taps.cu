// SPDX-License-Identifier: Apache-2.0
// A row filtered by what host code has put into constant memory.
#include <kopt/kopt.h>

constexpr int kRadius = 3;
__constant__ float taps[2 * kRadius + 1];

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n")
__global__ void filter(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = -kRadius; k <= kRadius; ++k)
    if (i + k >= 0 && i + k < n)
      sum += taps[k + kRadius] * in[i + k];
  out[i] = sum;
}

void run(const float *in, float *out, const float *host, int n) {
  cudaMemcpyToSymbol(taps, host, sizeof taps);
  filter<<<(n + 127) / 128, 128>>>(in, out, n);
}
