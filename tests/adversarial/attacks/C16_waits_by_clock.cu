// SPDX-License-Identifier: Apache-2.0
// C16: sleeps while others work.
// base: copyscale
// expect: Same|Slower|Ambiguous|Suspect
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __nanosleep(100);
  if (i < n)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
