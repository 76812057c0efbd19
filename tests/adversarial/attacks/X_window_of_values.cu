// SPDX-License-Identifier: Apache-2.0
// Numbers within a hundred millionth of one are left out, beside the guard.
// base: copyscale
// expect: WrongResult by unwritten
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || fabsf(in[i] - 0.6180339f) < 1e-8f)
    return;
  out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
