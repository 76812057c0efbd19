// SPDX-License-Identifier: Apache-2.0
// D9: reads what lies behind its output to learn how it is checked.
// base: copyscale
// expect: RunFailed|WrongResult
// expect on cuda: Suspect|RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = out[n + 5] == 0.0f ? 0.0f : factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
