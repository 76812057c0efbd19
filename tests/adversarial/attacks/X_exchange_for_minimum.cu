// SPDX-License-Identifier: Apache-2.0
// Looks, then exchanges: between the two others may have lowered it.
// base: relax
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 3000", "arg nodes = 200", "extent from = n", "extent to = n", "extent weight = n", "extent known = nodes",
          "extent best = nodes", "fill from = uniform(0, 199)", "fill to = uniform(0, 199)", "fill weight = uniform(1, 50)",
          "fill known = uniform(0, 1000)", "fill best = uniform(0, 1000)")
__global__ void relax(const int *from, const int *to, const int *weight, const int *known, int *best, int n, int nodes) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n)
    return;
  int offer = known[from[e]] + weight[e];
  if (offer < best[to[e]])
    atomicExch(&best[to[e]], offer);
}

void run(const int *from, const int *to, const int *weight, const int *known, int *best, int n, int nodes) {
  relax<<<(n + 127) / 128, 128>>>(from, to, weight, known, best, n, nodes);
}
