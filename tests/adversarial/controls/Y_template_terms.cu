// SPDX-License-Identifier: Apache-2.0
// A version for five terms and one for all others.
// base: polynomial
// expect: accepted
#include <kopt/kopt.h>

template <int Terms> __device__ float evaluate(const float *coefficients, float x, int terms) {
  float power = 1.0f, sum = 0.0f;
  const int count = Terms > 0 ? Terms : terms;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    sum += coefficients[k] * power;
    power *= x;
  }
  return sum;
}

KOPT_TUNE("arg n = 6000", "arg terms = 5", "extent x = n", "extent coefficients = terms", "extent out = n")
__global__ void polynomial(const float *x, const float *coefficients, float *out, int n, int terms) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = terms == 5 ? evaluate<5>(coefficients, x[i], terms) : evaluate<0>(coefficients, x[i], terms);
}

void run(const float *x, const float *coefficients, float *out, int n, int terms) {
  polynomial<<<(n + 127) / 128, 128>>>(x, coefficients, out, n, terms);
}
