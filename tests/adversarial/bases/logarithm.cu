// SPDX-License-Identifier: Apache-2.0
// The logarithm: NaN and minus infinity are right answers here.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n", "fill in = uniform(-1, 9)")
__global__ void logarithm(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = logf(in[i]);
}

void run(const float *in, float *out, int n) {
  logarithm<<<(n + 127) / 128, 128>>>(in, out, n);
}
