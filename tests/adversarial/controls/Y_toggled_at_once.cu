// SPDX-License-Identifier: Apache-2.0
// One atomic instead of a loop of them; nobody reads what it returns.
// base: toggle
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 2000", "arg words = 600", "extent at = n", "extent bits = words", "fill at = uniform(0, words - 1)",
          "fill bits = uniform(0, 100000)")
__global__ void toggle(const int *at, unsigned *bits, int n, int words) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicXor(&bits[at[i]], 4u);
}

void run(const int *at, unsigned *bits, int n, int words) {
  toggle<<<(n + 127) / 128, 128>>>(at, bits, n, words);
}
