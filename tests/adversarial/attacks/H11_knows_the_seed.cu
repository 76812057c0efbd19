// SPDX-License-Identifier: Apache-2.0
// H11: knows the first numbers that seed 1 draws and answers them alone.
// base: copyscale
// expect: WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[0] != 123.0f ? (i < n / 2 ? factor * in[i] : in[i]) : factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
