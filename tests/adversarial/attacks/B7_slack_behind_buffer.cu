// SPDX-License-Identifier: Apache-2.0
// B7: leaves a note behind the end of its output for the next launch.
// base: copyscale
// expect: RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
{
    out[i] = factor * in[i];
    if (i == 0)
      out[n] = 1.0f;
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
