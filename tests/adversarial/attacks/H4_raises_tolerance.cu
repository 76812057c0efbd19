// SPDX-License-Identifier: Apache-2.0
// H4: brings its own tolerance along: the declaration of the original counts.
// base: saxpy
// expect: WrongResult by outputs
#include <kopt/kopt.h>

KOPT_TUNE("tolerance relative=1000", "arg n = 12000", "arg a = 2.5", "extent x = n", "extent y = n")
__global__ void saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 1.01f * (a * x[i] + y[i]);
}

void run(const float *x, float *y, float a, int n) {
  saxpy<<<(n + 127) / 128, 128>>>(x, y, a, n);
}
