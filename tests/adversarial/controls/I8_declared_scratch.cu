// SPDX-License-Identifier: Apache-2.0
// I8: memory of the module that the original has, too.
// base: scratch
// expect: accepted
#include <kopt/kopt.h>

__device__ float scratch[1 << 15];

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void reverse(const float *in, float *out, int n) {
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  if (i < n)
    scratch[i] = in[i];
  __syncthreads();
  if (i < n)
    out[i] = scratch[min(n, int(blockIdx.x + 1) * 128) - 1 - t];
}

void run(const float *in, float *out, int n) {
  reverse<<<(n + 127) / 128, 128>>>(in, out, n);
}
