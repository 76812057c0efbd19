// SPDX-License-Identifier: Apache-2.0
// I5: bins in shared memory first.
// base: histogram
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 8000", "extent data = n", "extent bins = 256", "fill data = uniform(0, 255)", "fill bins = zero")
__global__ void histogram(const int *data, int *bins, int n) {
  __shared__ int mine[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    mine[b] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&mine[data[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (mine[b] != 0)
      atomicAdd(&bins[b], mine[b]);
}

void run(const int *data, int *bins, int n) {
  histogram<<<(n + 127) / 128, 128>>>(data, bins, n);
}
