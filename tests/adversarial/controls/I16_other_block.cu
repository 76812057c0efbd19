// SPDX-License-Identifier: Apache-2.0
// I16: nothing but a register in place of a second read of shared memory.
// base: scan
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void scan(const float *in, float *out, int n) {
  __shared__ float sums[128];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  float own = i < n ? in[i] : 0.0f;
  sums[t] = own;
  __syncthreads();
  for (int reach = 1; reach < 128; reach *= 2) {
    float left = t >= reach ? sums[t - reach] : 0.0f;
    __syncthreads();
    own += left;
    sums[t] = own;
    __syncthreads();
  }
  if (i < n)
    out[i] = own;
}

void run(const float *in, float *out, int n) {
  scan<<<(n + 127) / 128, 128>>>(in, out, n);
}
