// SPDX-License-Identifier: Apache-2.0
// A histogram of 64 bins, by shared memory of each block.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 16000", "extent key = n", "extent bins = 64", "fill key = uniform(0, 63)", "fill bins = zero")
__global__ void count(const int *key, int *bins, int n) {
  __shared__ int mine[64];
  if (threadIdx.x < 64)
    mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[key[i]], 1);
  __syncthreads();
  if (threadIdx.x < 64)
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

void run(const int *key, int *bins, int n) {
  count<<<16, 128>>>(key, bins, n);
}
