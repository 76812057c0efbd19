// SPDX-License-Identifier: Apache-2.0
// Right for values within the declared range of the fill.
// base: copyscale
// expect: WrongResult by contents
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] >= -1.0f && in[i] <= 1.0f ? factor * in[i] : in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
