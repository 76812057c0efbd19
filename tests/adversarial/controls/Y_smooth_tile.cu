// SPDX-License-Identifier: Apache-2.0
// A tile with its halo in shared memory.
// base: smooth
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent weights = 5", "extent out = n")
__global__ void smooth(const float *in, const float *weights, float *out, int n) {
  __shared__ float tile[132];
  int begin = blockIdx.x * 128, i = begin + threadIdx.x;
  for (int t = threadIdx.x; t < 132; t += 128)
    tile[t] = in[min(max(begin + t - 2, 0), n - 1)];
  __syncthreads();
  if (i >= n)
    return;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 5; ++k)
    sum += weights[k] * tile[threadIdx.x + k];
  out[i] = sum;
}

void run(const float *in, const float *weights, float *out, int n) {
  smooth<<<(n + 127) / 128, 128>>>(in, weights, out, n);
}
