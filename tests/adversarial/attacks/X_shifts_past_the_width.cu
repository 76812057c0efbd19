// SPDX-License-Identifier: Apache-2.0
// Leaves out the modulo: a shift by 32 and more, which x86 takes modulo 32.
// base: rotate
// expect: WrongResult
// expect on cuda: WrongResult|Duplicate|accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent by = n", "extent out = n", "fill in = uniform(0, 2000000000)", "fill by = uniform(0, 63)")
__global__ void rotate(const unsigned *in, const int *by, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int shift = by[i];
  out[i] = in[i] << shift | in[i] >> (32 - shift);
}

void run(const unsigned *in, const int *by, unsigned *out, int n) {
  rotate<<<(n + 127) / 128, 128>>>(in, by, out, n);
}
