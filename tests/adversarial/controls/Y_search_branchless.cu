// SPDX-License-Identifier: Apache-2.0
// Halves the rest without a branch.
// base: search
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 3000", "arg size = 500", "extent needles = n", "extent table = size", "extent place = n",
          "fill needles = uniform(0, 2000)", "fill table = iota")
__global__ void search(const int *needles, const int *table, int *place, int n, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int needle = needles[i], low = 0, length = size;
  while (length > 0) {
    int half = length / 2;
    bool right = table[low + half] < needle;
    low = right ? low + half + 1 : low;
    length = right ? length - half - 1 : half;
  }
  place[i] = low;
}

void run(const int *needles, const int *table, int *place, int n, int size) {
  search<<<(n + 127) / 128, 128>>>(needles, table, place, n, size);
}
