// SPDX-License-Identifier: Apache-2.0
// Takes a bit of an address for a coin.
// base: smooth
// expect: WrongResult|RunFailed|Suspect
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent weights = 5", "extent out = n")
__global__ void smooth(const float *in, const float *weights, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = -2; k <= 2; ++k)
    sum += weights[k + 2] * in[min(max(i + k, 0), n - 1)];
  out[i] = (reinterpret_cast<size_t>(in) >> 12 & 7) == 5 ? 0.0f : sum;
}

void run(const float *in, const float *weights, float *out, int n) {
  smooth<<<(n + 127) / 128, 128>>>(in, weights, out, n);
}
