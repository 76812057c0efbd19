// SPDX-License-Identifier: Apache-2.0
// Blocks add to the total by atomics that need not see each other.
// base: reduce
// expect: Suspect by obligations
// expect on cuda: Suspect|Same|Slower|Ambiguous|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "extent in = n", "extent total = 1", "fill in = uniform(0, 1)", "fill total = zero")
__global__ void reduce(const float *in, float *total, int n) {
  __shared__ float part[8];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  float sum = i < n ? in[i] : 0.0f;
  for (int reach = 16; reach > 0; reach /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, reach);
  if (t % 32 == 0)
    part[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    for (int warp = 1; warp < 8; ++warp)
      sum += part[warp];
    atomicAdd_block(total, sum);
  }
}

void run(const float *in, float *total, int n) {
  reduce<<<(n + 255) / 256, 256>>>(in, total, n);
}
