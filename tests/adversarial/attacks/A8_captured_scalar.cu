// SPDX-License-Identifier: Apache-2.0
// A8: the declared value of an argument in place of the argument.
// base: saxpy
// expect: WrongResult by scalars
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg a = 2.5", "extent x = n", "extent y = n")
__global__ void saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.5f * x[i] + y[i];
}

void run(const float *x, float *y, float a, int n) {
  saxpy<<<(n + 127) / 128, 128>>>(x, y, a, n);
}
