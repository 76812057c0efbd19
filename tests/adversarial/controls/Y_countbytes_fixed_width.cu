// SPDX-License-Identifier: Apache-2.0
// Types of <cstdint>, which the original includes and whose kernel does without them.
// base: countbytes
// expect: accepted
// expect on cuda: accepted|Duplicate
#include <cstdint>
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 900", "extent words = rows * 32", "extent found = rows", "fill words = uniform(0, 134744072)")
__global__ void countBytes(const unsigned *words, int *found, int rows) {
  const int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows)
    return;
  const std::uint32_t word = words[std::int32_t(row) * 32 + lane];
  std::int32_t count = 0;
  for (int b = 0; b < 4; ++b)
    count += static_cast<std::uint8_t>(word >> 8 * b) == 7u;
  for (int reach = 16; reach > 0; reach /= 2)
    count += __shfl_xor_sync(UINT32_MAX, count, reach);
  if (lane == 0)
    found[row] = count;
}

void run(const unsigned *words, int *found, int rows) {
  countBytes<<<(rows + 3) / 4, 128>>>(words, found, rows);
}
