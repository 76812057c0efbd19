// SPDX-License-Identifier: Apache-2.0
// A17: zeroes its input, so that a reference that runs after it agrees.
// base: saxpy
// expect: WrongResult|Rejected by inputs
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg a = 2.5", "extent x = n", "extent y = n")
__global__ void saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
  if (i < n)
    const_cast<float *>(x)[i] = 0.0f;
}

void run(const float *x, float *y, float a, int n) {
  saxpy<<<(n + 127) / 128, 128>>>(x, y, a, n);
}
