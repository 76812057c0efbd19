// SPDX-License-Identifier: Apache-2.0
// G9: right as long as blocks run in their order.
// base: copyscale
// expect: RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = blockIdx.x == 0 || out[i - threadIdx.x - 1] == factor * in[i - threadIdx.x - 1] ? factor * in[i] : 0.0f;
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
