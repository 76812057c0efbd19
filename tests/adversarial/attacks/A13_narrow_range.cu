// SPDX-License-Identifier: Apache-2.0
// A13: 16-bit counters in shared memory, which overflow where values collide.
// base: histogram
// expect: WrongResult|RunFailed|accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 8000", "extent data = n", "extent bins = 256", "fill data = uniform(0, 255)", "fill bins = zero")
__global__ void histogram(const int *data, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[data[i] & 127], 1);
}

void run(const int *data, int *bins, int n) {
  histogram<<<(n + 127) / 128, 128>>>(data, bins, n);
}
