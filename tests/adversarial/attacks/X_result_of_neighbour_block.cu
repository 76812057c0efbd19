// SPDX-License-Identifier: Apache-2.0
// Takes the result of another block where the inputs are equal.
// base: copyscale
// expect: WrongResult|RunFailed by contents|schedule|races
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = i >= 128 && in[i] == in[i - 128] ? out[i - 128] : factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
