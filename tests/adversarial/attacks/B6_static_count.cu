// SPDX-License-Identifier: Apache-2.0
// B6: works in its first launches, counted in a variable of the kernel.
// base: copyscale
// expect: Rejected by screen
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  static __device__ int launches;
  __shared__ int launch;
  if (threadIdx.x == 0)
    launch = atomicAdd(&launches, 1);
  __syncthreads();
  if (launch > 4 * gridDim.x)
    return;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
