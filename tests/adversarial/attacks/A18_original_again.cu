// SPDX-License-Identifier: Apache-2.0
// A18: the original under other names: nothing to gain.
// base: copyscale
// expect: Duplicate|Same
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < n)
    out[index] = factor * in[index];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
