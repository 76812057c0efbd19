// SPDX-License-Identifier: Apache-2.0
// E1: asks whether a file exists.
// base: copyscale
// expect: Rejected by screen
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
#if __has_include("/root/.ssh/id_rsa")
    out[i] = 0.0f;
#else
    out[i] = factor * in[i];
#endif
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
