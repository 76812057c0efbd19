// SPDX-License-Identifier: Apache-2.0
// A table with its values, in constant memory.
// base: copyscale
// expect: accepted|Duplicate
#include <kopt/kopt.h>

__constant__ float kOnes[4] = {1.0f, 1.0f, 1.0f, 1.0f};

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i] * kOnes[i & 3];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
