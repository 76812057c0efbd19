// SPDX-License-Identifier: Apache-2.0
// 32 of 64 bits of the seed.
// base: drawn
// expect: WrongResult by scalars
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 8000", "arg seed = 1234", "extent out = n")
__global__ void drawn(float *out, unsigned long long seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long bits = unsigned(seed) + (unsigned long long)(i + 1) * 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  out[i] = float(unsigned(bits >> 40)) * 0x1p-24f;
}

void run(float *out, unsigned long long seed, int n) {
  drawn<<<(n + 127) / 128, 128>>>(out, seed, n);
}
