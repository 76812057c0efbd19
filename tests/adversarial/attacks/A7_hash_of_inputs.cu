// SPDX-License-Identifier: Apache-2.0
// A7: answers from memory where the first input is the one it has seen, computes otherwise; of no use with
// inputs drawn after it was written, so it is only as good as its honest half.
// base: copyscale
// expect: WrongResult|RunFailed by coverage|alignment|races
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[0] == 0.8541f ? 1.0f : factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
