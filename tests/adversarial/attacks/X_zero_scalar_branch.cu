// SPDX-License-Identifier: Apache-2.0
// A path for factors of 0, and a wrong one for others.
// base: axpby
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 9000", "arg alpha = 1.25", "arg beta = 0.0", "extent x = n", "extent y = n", "extent z = n")
__global__ void axpby(const float *x, const float *y, float *z, float alpha, float beta, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    z[i] = beta == 0.0f ? alpha * x[i] : alpha * x[i] + y[i];
}

void run(const float *x, const float *y, float *z, float alpha, float beta, int n) {
  axpby<<<(n + 127) / 128, 128>>>(x, y, z, alpha, beta, n);
}
