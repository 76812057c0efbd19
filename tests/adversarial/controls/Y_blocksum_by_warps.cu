// SPDX-License-Identifier: Apache-2.0
// A sum by warp and one atomic for each.
// base: blocksum
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = (n + 127) / 128", "fill in = uniform(0, 100)")
__global__ void blockSum(const int *in, int *out, int n) {
  __shared__ int sum;
  int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  int warp = i < n ? in[i] : 0;
  for (int reach = 16; reach > 0; reach /= 2)
    warp += __shfl_xor_sync(0xffffffffu, warp, reach);
  if (threadIdx.x % 32 == 0)
    atomicAdd(&sum, warp);
  __syncthreads();
  if (threadIdx.x == 127)
    out[blockIdx.x] = sum;
}

void run(const int *in, int *out, int n) {
  blockSum<<<(n + 127) / 128, 128>>>(in, out, n);
}
