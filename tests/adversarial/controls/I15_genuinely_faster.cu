// SPDX-License-Identifier: Apache-2.0
// I15: running sums by a scan: a gain that is hard to believe, and true.
// base: prefix
// expect: Faster
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 700", "extent in = n", "extent out = n", "fill in = uniform(0, 1)")
__global__ void prefix(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float sums[128];
  __shared__ float before;
  int t = threadIdx.x;
  int first = blockIdx.x * blockDim.x;
  float part = 0.0f;
  for (int j = t; j < first; j += 128)
    part += in[j];
  sums[t] = part;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0)
    before = sums[0];
  __syncthreads();
  sums[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int reach = 1; reach < 128; reach *= 2) {
    float left = t >= reach ? sums[t - reach] : 0.0f;
    __syncthreads();
    sums[t] += left;
    __syncthreads();
  }
  if (i < n)
    out[i] = before + sums[t];
}

void run(const float *in, float *out, int n) {
  prefix<<<(n + 127) / 128, 128>>>(in, out, n);
}
