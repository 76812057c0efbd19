// SPDX-License-Identifier: Apache-2.0
// Promises the compiler a size that is none.
// base: polynomial
// expect: WrongResult|RunFailed
// expect on cuda: WrongResult|RunFailed|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "arg terms = 5", "extent x = n", "extent coefficients = terms", "extent out = n")
__global__ void polynomial(const float *x, const float *coefficients, float *out, int n, int terms) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __builtin_assume(n % 128 == 0);
  if (i >= n)
    return;
  float power = 1.0f, sum = 0.0f;
  for (int k = 0; k < terms; ++k) {
    sum += coefficients[k] * power;
    power *= x[i];
  }
  out[i] = sum;
}

void run(const float *x, const float *coefficients, float *out, int n, int terms) {
  polynomial<<<(n + 127) / 128, 128>>>(x, coefficients, out, n, terms);
}
