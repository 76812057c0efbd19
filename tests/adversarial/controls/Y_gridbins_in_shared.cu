// SPDX-License-Identifier: Apache-2.0
// Counts in shared memory first.
// base: gridbins
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 4194304", "extent data = n", "extent bins = 256")
__global__ void gridbins(const unsigned char *data, unsigned int *bins, int n) {
  __shared__ unsigned int own[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    own[b] = 0;
  __syncthreads();
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (own[b] > 0)
      atomicAdd(&bins[b], own[b]);
}

void run(const unsigned char *data, unsigned int *bins, int n) {
  gridbins<<<128, 256>>>(data, bins, n);
}
