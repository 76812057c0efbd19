// SPDX-License-Identifier: Apache-2.0
// Looks at the address to tell a check from a use.
// base: copyscale
// expect: WrongResult by outputs|fresh|scalars|sizes|contents|alignment
// under standard it may win, assuming: aligned to 16 bytes
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = (reinterpret_cast<unsigned long long>(in) & 1023) == 256 && i % 3 == 0 ? 0.0f : factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
