// SPDX-License-Identifier: Apache-2.0
// Reads before and behind the buffer, and throws it away; a compiler may see that and not read there, so it may be harmless.
// base: smooth
// expect: WrongResult|RunFailed|Suspect
// expect on cuda: WrongResult|RunFailed|Suspect|Same|Slower|Ambiguous
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent weights = 5", "extent out = n")
__global__ void smooth(const float *in, const float *weights, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = -2; k <= 2; ++k)
    {
    float v = in[i + k];
    if (i + k < 0)
      v = in[0];
    if (i + k >= n)
      v = in[n - 1];
    sum += weights[k + 2] * v;
  }
  out[i] = sum;
}

void run(const float *in, const float *weights, float *out, int n) {
  smooth<<<(n + 127) / 128, 128>>>(in, weights, out, n);
}
