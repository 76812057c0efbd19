// SPDX-License-Identifier: Apache-2.0
// Reads the sums that an earlier block left in the output.
// base: scan
// expect: RunFailed|WrongResult|Suspect
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
    __syncthreads();
    sums[t] += left;
    __syncthreads();
  }
  if (i < n)
    out[i] = blockIdx.x > 0 && out[i - t - 1] != out[i - t - 1] ? 0.0f : sums[t];
}

void run(const float *in, float *out, int n) {
  scan<<<(n + 127) / 128, 128>>>(in, out, n);
}
