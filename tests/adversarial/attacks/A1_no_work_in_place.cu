// SPDX-License-Identifier: Apache-2.0
// A1: does nothing to a buffer that is read and written.
// base: saxpy
// expect: WrongResult by outputs
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg a = 2.5", "extent x = n", "extent y = n")
__global__ void saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    ;
}

void run(const float *x, float *y, float a, int n) {
  saxpy<<<(n + 127) / 128, 128>>>(x, y, a, n);
}
