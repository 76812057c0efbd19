// SPDX-License-Identifier: Apache-2.0
// Reads its output to see whether it holds poison.
// base: copyscale
// expect: WrongResult|RunFailed
// expect on cuda: Suspect|RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = out[i] == 12345.0f ? 0.0f : factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
