// SPDX-License-Identifier: Apache-2.0
// A8: the declared size.
// base: copyscale
// expect: WrongResult|RunFailed by sizes|scalars
// expect on cuda: WrongResult|RunFailed by sizes|scalars|guards
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 12000)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
