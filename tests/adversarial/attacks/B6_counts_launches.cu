// SPDX-License-Identifier: Apache-2.0
// B6: works in its first launches, which are the ones that are checked.
// base: copyscale
// expect: Rejected|BuildFailed
#include <kopt/kopt.h>

__device__ int launches;

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int launch;
  if (threadIdx.x == 0)
    launch = atomicAdd(&launches, 1);
  __syncthreads();
  if (launch > 40 * gridDim.x)
    return;
  if (i < n)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
