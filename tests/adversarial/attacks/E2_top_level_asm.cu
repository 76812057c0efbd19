// SPDX-License-Identifier: Apache-2.0
// E2: assembler that brings a file into the program.
// base: copyscale
// expect: Rejected|BuildFailed|Duplicate
#include <kopt/kopt.h>

asm(".incbin \"/etc/passwd\"");

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
