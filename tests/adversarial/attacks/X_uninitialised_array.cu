// SPDX-License-Identifier: Apache-2.0
// An array of which not all is set.
// base: polynomial
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "arg terms = 5", "extent x = n", "extent coefficients = terms", "extent out = n")
__global__ void polynomial(const float *x, const float *coefficients, float *out, int n, int terms) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float power = 1.0f, sums[4];
  sums[0] = 0.0f;
  for (int k = 0; k < terms; ++k) {
    sums[k & 1] += coefficients[k] * power;
    power *= x[i];
  }
  out[i] = sums[0] + sums[1];
}

void run(const float *x, const float *coefficients, float *out, int n, int terms) {
  polynomial<<<(n + 127) / 128, 128>>>(x, coefficients, out, n, terms);
}
