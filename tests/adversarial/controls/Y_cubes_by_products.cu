// SPDX-License-Identifier: Apache-2.0
// Two products.
// base: cubes
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n", "fill in = uniform(-2, 2)")
__global__ void cubes(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * in[i] * in[i];
}

void run(const float *in, float *out, int n) {
  cubes<<<(n + 127) / 128, 128>>>(in, out, n);
}
