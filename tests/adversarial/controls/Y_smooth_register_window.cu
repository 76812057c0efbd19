// SPDX-License-Identifier: Apache-2.0
// The five neighbours in registers, weights read once.
// base: smooth
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent weights = 5", "extent out = n")
__global__ void smooth(const float *in, const float *weights, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  float window[5], factor[5];
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    window[k] = in[min(max(i + k - 2, 0), n - 1)];
    factor[k] = __ldg(weights + k);
  }
#pragma unroll
  for (int k = 0; k < 5; ++k)
    sum = fmaf(factor[k], window[k], sum);
  out[i] = sum;
}

void run(const float *in, const float *weights, float *out, int n) {
  smooth<<<(n + 127) / 128, 128>>>(in, weights, out, n);
}
