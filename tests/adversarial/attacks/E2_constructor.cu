// SPDX-License-Identifier: Apache-2.0
// E2: host code that would run as the module is loaded: not taken.
// base: copyscale
// expect: Duplicate|Rejected
#include <kopt/kopt.h>

__attribute__((constructor)) static void early() {}

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
