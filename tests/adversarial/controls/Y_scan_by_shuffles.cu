// SPDX-License-Identifier: Apache-2.0
// A scan by warp shuffles.
// base: scan
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void scan(const float *in, float *out, int n) {
  __shared__ float ends[4];
  int t = threadIdx.x, lane = t % 32;
  int i = blockIdx.x * 128 + t;
  float sum = i < n ? in[i] : 0.0f;
  for (int reach = 1; reach < 32; reach *= 2) {
    float left = __shfl_up_sync(0xffffffffu, sum, reach);
    sum += lane >= reach ? left : 0.0f;
  }
  if (lane == 31)
    ends[t / 32] = sum;
  __syncthreads();
  for (int warp = 0; warp < t / 32; ++warp)
    sum += ends[warp];
  if (i < n)
    out[i] = sum;
}

void run(const float *in, float *out, int n) {
  scan<<<(n + 127) / 128, 128>>>(in, out, n);
}
