// SPDX-License-Identifier: Apache-2.0
// I5: an atomic of every warp, where the original has one of every block.
// base: reduce
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "extent in = n", "extent total = 1", "fill in = uniform(0, 1)", "fill total = zero")
__global__ void reduce(const float *in, float *total, int n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  part[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  float sum = part[t];
  for (int reach = 16; reach > 0; reach /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, reach);
  if (t % 32 == 0)
    atomicAdd(total, sum);
}

void run(const float *in, float *total, int n) {
  reduce<<<(n + 255) / 256, 256>>>(in, total, n);
}
