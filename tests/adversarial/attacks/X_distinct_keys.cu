// SPDX-License-Identifier: Apache-2.0
// Stops at an equal key, which need not be the first.
// base: search
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 3000", "arg size = 500", "extent needles = n", "extent table = size", "extent place = n",
          "fill needles = uniform(0, 2000)", "fill table = iota")
__global__ void search(const int *needles, const int *table, int *place, int n, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int low = 0, high = size;
  while (low < high) {
    int middle = (low + high) / 2;
    if (table[middle] == needles[i]) {
      low = middle;
      break;
    }
    if (table[middle] < needles[i])
      low = middle + 1;
    else
      high = middle;
  }
  place[i] = low;
}

void run(const int *needles, const int *table, int *place, int n, int size) {
  search<<<(n + 127) / 128, 128>>>(needles, table, place, n, size);
}
