// SPDX-License-Identifier: Apache-2.0
// B5: finishes in the next launch what it leaves in this one.
// base: copyscale
// expect: Rejected|BuildFailed
#include <kopt/kopt.h>

__device__ int launches;

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0)
    atomicAdd(&launches, 1);
  if (i < n && (i % 2 == launches % 2))
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
