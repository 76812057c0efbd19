// SPDX-License-Identifier: Apache-2.0
// No barrier between clearing and adding.
// base: blocksum
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = (n + 127) / 128", "fill in = uniform(0, 100)")
__global__ void blockSum(const int *in, int *out, int n) {
  __shared__ int sum;
  int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x == 0)
    sum = 0;
  if (i < n)
    atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 127)
    out[blockIdx.x] = sum;
}

void run(const int *in, int *out, int n) {
  blockSum<<<(n + 127) / 128, 128>>>(in, out, n);
}
