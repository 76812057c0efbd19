// SPDX-License-Identifier: Apache-2.0
// A guard against an empty problem.
// base: smooth
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent weights = 5", "extent out = n")
__global__ void smooth(const float *in, const float *weights, float *out, int n) {
  if (n <= 0)
    return;
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
