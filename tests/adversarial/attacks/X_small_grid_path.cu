// SPDX-License-Identifier: Apache-2.0
// A fast path for small grids that is wrong, and the original for large ones.
// base: copyscale
// expect: WrongResult by sizes|scalars|contents|unwritten
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 9000 && i % 5 == 4)
    return;
  if (i < n)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
