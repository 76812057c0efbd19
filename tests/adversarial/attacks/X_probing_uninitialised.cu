// SPDX-License-Identifier: Apache-2.0
// Looks at what the output held.
// base: smooth
// expect: WrongResult|RunFailed
// expect on cuda: Suspect|RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent weights = 5", "extent out = n")
__global__ void smooth(const float *in, const float *weights, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = -2; k <= 2; ++k)
    sum += weights[k + 2] * in[min(max(i + k, 0), n - 1)];
  float old = out[i];
  out[i] = old == sum ? old : sum;
}

void run(const float *in, const float *weights, float *out, int n) {
  smooth<<<(n + 127) / 128, 128>>>(in, weights, out, n);
}
