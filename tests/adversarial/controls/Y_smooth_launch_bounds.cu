// SPDX-License-Identifier: Apache-2.0
// Bounds of the launch, restricted pointers.
// base: smooth
// expect: accepted|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent weights = 5", "extent out = n")
__global__ void __launch_bounds__(128) smooth(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = -2; k <= 2; ++k)
    sum += weights[k + 2] * in[min(max(i + k, 0), n - 1)];
  out[i] = sum;
}

void run(const float *in, const float *weights, float *out, int n) {
  smooth<<<(n + 127) / 128, 128>>>(in, weights, out, n);
}
