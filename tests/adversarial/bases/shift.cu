// SPDX-License-Identifier: Apache-2.0
// Moves elements down by one, within one array.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 900", "extent in = n", "extent out = n")
__global__ void shift(const float *in, float *out, int n) {
  int t = threadIdx.x;
  float mine = t < n ? in[t] : 0.0f;
  __syncthreads();
  if (t < n)
    out[t] = 0.5f * mine;
}

void run(float *data, int n) {
  shift<<<1, 1024>>>(data + 1, data, n);
}
