// SPDX-License-Identifier: Apache-2.0
// F9: fixed point, right within the declared range of values.
// base: copyscale
// expect: WrongResult by contents
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * fminf(fmaxf(in[i], -1.0f), 1.0f);
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
