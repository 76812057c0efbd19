// SPDX-License-Identifier: Apache-2.0
// I1: the same with a function of its own.
// base: copyscale
// expect: accepted|Duplicate
#include <kopt/kopt.h>

__device__ float scaled(float value, float by) { return by * value; }

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scaled(in[i], factor);
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
