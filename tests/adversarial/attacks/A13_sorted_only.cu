// SPDX-License-Identifier: Apache-2.0
// A13: counts runs of equal neighbours, as if the data were sorted.
// base: histogram
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 8000", "extent data = n", "extent bins = 256", "fill data = uniform(0, 255)", "fill bins = zero")
__global__ void histogram(const int *data, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    if (i == 0 || data[i - 1] != data[i]) {
      int count = 0;
      while (i + count < n && data[i + count] == data[i])
        ++count;
      bins[data[i]] = count;
    }
}

void run(const int *data, int *bins, int n) {
  histogram<<<(n + 127) / 128, 128>>>(data, bins, n);
}
