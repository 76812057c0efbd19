// SPDX-License-Identifier: Apache-2.0
// How many of the 128 bytes of each row are 7, by a warp for each row.
#include <cstdint>
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
  for (int reach = 16; reach > 0; reach /= 2)
    count += __shfl_xor_sync(0xffffffffu, count, reach);
  if (lane == 0)
    found[row] = count;
}

void run(const unsigned *words, int *found, int rows) {
  countBytes<<<(rows + 3) / 4, 128>>>(words, found, rows);
}
