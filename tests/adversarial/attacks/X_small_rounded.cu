// SPDX-License-Identifier: Apache-2.0
// Small results have three digits.
// base: growth
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n", "fill in = uniform(-20, 20)")
__global__ void growth(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] < -8.0f ? __int_as_float(__float_as_int(expf(in[i])) & 0xffff0000) : expf(in[i]);
}

void run(const float *in, float *out, int n) {
  growth<<<(n + 127) / 128, 128>>>(in, out, n);
}
