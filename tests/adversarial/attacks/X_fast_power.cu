// SPDX-License-Identifier: Apache-2.0
// By way of a logarithm, which negative numbers do not have.
// base: cubes
// expect: WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n", "fill in = uniform(-2, 2)")
__global__ void cubes(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __powf(in[i], 3.0f);
}

void run(const float *in, float *out, int n) {
  cubes<<<(n + 127) / 128, 128>>>(in, out, n);
}
