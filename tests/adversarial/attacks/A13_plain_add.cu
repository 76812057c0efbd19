// SPDX-License-Identifier: Apache-2.0
// A13: no atomic; right where no two threads meet.
// base: histogram
// expect: RunFailed|WrongResult by races|outputs
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 8000", "extent data = n", "extent bins = 256", "fill data = uniform(0, 255)", "fill bins = zero")
__global__ void histogram(const int *data, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    bins[data[i]] = bins[data[i]] + 1;
}

void run(const int *data, int *bins, int n) {
  histogram<<<(n + 127) / 128, 128>>>(data, bins, n);
}
