// SPDX-License-Identifier: Apache-2.0
// The table holds its own indices, so nothing is searched.
// base: search
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 3000", "arg size = 500", "extent needles = n", "extent table = size", "extent place = n",
          "fill needles = uniform(0, 2000)", "fill table = iota")
__global__ void search(const int *needles, const int *table, int *place, int n, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  place[i] = min(max(needles[i], 0), size);
}

void run(const int *needles, const int *table, int *place, int n, int size) {
  search<<<(n + 127) / 128, 128>>>(needles, table, place, n, size);
}
