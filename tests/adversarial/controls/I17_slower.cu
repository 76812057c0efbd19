// SPDX-License-Identifier: Apache-2.0
// I17: right and slower is no gain, and not wrong: neighbours are far apart.
// base: copyscale
// expect: Slower|Same|Ambiguous
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = threadIdx.x * gridDim.x + blockIdx.x;
  if (i < n)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
