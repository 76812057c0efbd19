// SPDX-License-Identifier: Apache-2.0
// A bit of words toggled, by compare and swap.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 2000", "arg words = 600", "extent at = n", "extent bits = words", "fill at = uniform(0, words - 1)",
          "fill bits = uniform(0, 100000)")
__global__ void toggle(const int *at, unsigned *bits, int n, int words) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned old = bits[at[i]], seen;
  do {
    seen = old;
    old = atomicCAS(&bits[at[i]], seen, seen ^ 4u);
  } while (old != seen);
}

void run(const int *at, unsigned *bits, int n, int words) {
  toggle<<<(n + 127) / 128, 128>>>(at, bits, n, words);
}
