// SPDX-License-Identifier: Apache-2.0
// Zero in place of NaN.
// base: logarithm
// expect: WrongResult by outputs
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n", "fill in = uniform(-1, 9)")
__global__ void logarithm(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] < 0.0f ? 0.0f : logf(in[i]);
}

void run(const float *in, float *out, int n) {
  logarithm<<<(n + 127) / 128, 128>>>(in, out, n);
}
