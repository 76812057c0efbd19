// SPDX-License-Identifier: Apache-2.0
// Takes the filter to be the same from both ends.
// base: taps
// expect: WrongResult
#include <kopt/kopt.h>

constexpr int kRadius = 3;
__constant__ float taps[2 * kRadius + 1];

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n")
__global__ void filter(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = taps[kRadius] * in[i];
  for (int k = 1; k <= kRadius; ++k) {
    float left = i - k >= 0 ? in[i - k] : 0.0f, right = i + k < n ? in[i + k] : 0.0f;
    sum += taps[kRadius + k] * (left + right);
  }
  out[i] = sum;
}

void run(const float *in, float *out, const float *host, int n) {
  cudaMemcpyToSymbol(taps, host, sizeof taps);
  filter<<<(n + 127) / 128, 128>>>(in, out, n);
}
