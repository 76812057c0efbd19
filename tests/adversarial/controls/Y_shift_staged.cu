// SPDX-License-Identifier: Apache-2.0
// Through shared memory instead of registers: all is read before anything is written.
// base: shift
// expect: accepted|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 900", "extent in = n", "extent out = n")
__global__ void shift(const float *in, float *out, int n) {
  __shared__ float stage[1024];
  int t = threadIdx.x;
  if (t < n)
    stage[t] = in[t];
  __syncthreads();
  if (t < n)
    out[t] = stage[t] * 0.5f;
}

void run(float *data, int n) {
  shift<<<1, 1024>>>(data + 1, data, n);
}
