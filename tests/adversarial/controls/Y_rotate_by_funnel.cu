// SPDX-License-Identifier: Apache-2.0
// The intrinsic, whose count is taken modulo 32.
// base: rotate
// expect: accepted
// expect on cuda: accepted|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent by = n", "extent out = n", "fill in = uniform(0, 2000000000)", "fill by = uniform(0, 63)")
__global__ void rotate(const unsigned *in, const int *by, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = __funnelshift_l(in[i], in[i], by[i]);
}

void run(const unsigned *in, const int *by, unsigned *out, int n) {
  rotate<<<(n + 127) / 128, 128>>>(in, by, out, n);
}
