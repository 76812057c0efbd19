// SPDX-License-Identifier: Apache-2.0
// G1: no barrier between reading and writing.
// base: scan
// expect: RunFailed|WrongResult by races
// expect on cuda: RunFailed|WrongResult by sanitizer|outputs|sizes|repeat|timed
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void scan(const float *in, float *out, int n) {
  __shared__ float sums[128];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  sums[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int reach = 1; reach < 128; reach *= 2) {
    float left = t >= reach ? sums[t - reach] : 0.0f;
    sums[t] += left;
    __syncthreads();
  }
  if (i < n)
    out[i] = sums[t];
}

void run(const float *in, float *out, int n) {
  scan<<<(n + 127) / 128, 128>>>(in, out, n);
}
