// SPDX-License-Identifier: Apache-2.0
// Rounds up by one too few: without a block for the last element of n % 128 == 1, and none at all for one element.
// base: copyscale
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * factor;
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 126) / 128, 128>>>(in, out, factor, n);
}
