// SPDX-License-Identifier: Apache-2.0
// Plain increments in shared memory behind a fence, which orders one thread alone.
// base: histshared
// expect: RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 16000", "extent key = n", "extent bins = 64", "fill key = uniform(0, 63)", "fill bins = zero")
__global__ void count(const int *key, int *bins, int n) {
  __shared__ int mine[64];
  if (threadIdx.x < 64)
    mine[threadIdx.x] = 0;
  __syncthreads();
  __threadfence_block();
  const int begin = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  int i = begin;
  for (; i + 3 * step < n; i += 4 * step) {
    int a = key[i], b = key[i + step], c = key[i + 2 * step], d = key[i + 3 * step];
    mine[a] += 1, mine[b] += 1, mine[c] += 1, mine[d] += 1;
  }
  for (; i < n; i += step)
    mine[key[i]] += 1;
  __syncthreads();
  if (threadIdx.x < 64)
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

void run(const int *key, int *bins, int n) {
  count<<<16, 128>>>(key, bins, n);
}
