// SPDX-License-Identifier: Apache-2.0
// Sums by an instruction of sm_80, which nvcc does not have for the GPU that it builds for unasked.
// base: countbytes
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 900", "extent words = rows * 32", "extent found = rows", "fill words = uniform(0, 134744072)")
__global__ void countBytes(const unsigned *words, int *found, int rows) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows)
    return;
  unsigned word = words[row * 32 + lane];
  int count = 0;
  for (int b = 0; b < 4; ++b)
    count += (word >> 8 * b & 255u) == 7u;
  count = __reduce_add_sync(0xffffffffu, count);
  if (lane == 0)
    found[row] = count;
}

void run(const unsigned *words, int *found, int rows) {
  countBytes<<<(rows + 3) / 4, 128>>>(words, found, rows);
}
