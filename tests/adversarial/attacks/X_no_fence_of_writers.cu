// SPDX-License-Identifier: Apache-2.0
// The fence that is left is the reader's, which reads values, not signals, as volatile.
// base: lastblock
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

__device__ float parts[1024];
__device__ unsigned finished;

KOPT_TUNE("arg n = 12000", "extent in = n", "extent total = 1", "fill in = uniform(0, 1)")
__global__ void lastBlock(const float *in, float *total, int n) {
  __shared__ float sums[128];
  __shared__ bool isLast;
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128)
    sum += in[i];
  sums[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) {
    parts[blockIdx.x] = sums[0];
    isLast = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast)
    return;
  __threadfence();
  sum = 0.0f;
  for (int i = t; i < gridDim.x; i += 128)
    sum += ((volatile float *)parts)[i];
  sums[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0)
    *total = sums[0];
}

void run(const float *in, float *total, int n) {
  lastBlock<<<24, 128>>>(in, total, n);
}
