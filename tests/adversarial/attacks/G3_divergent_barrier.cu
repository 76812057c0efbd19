// SPDX-License-Identifier: Apache-2.0
// G3: two barriers, each of which a part of the block reaches.
// base: reduce
// expect: RunFailed|WrongResult
// expect on cuda: RunFailed|WrongResult|TimedOut
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "extent in = n", "extent total = 1", "fill in = uniform(0, 1)", "fill total = zero")
__global__ void reduce(const float *in, float *total, int n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  part[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) {
      part[t] += part[t + half];
      __syncthreads();
    } else {
      __syncthreads();
    }
  }
  if (t == 0)
    atomicAdd(total, part[0]);
}

void run(const float *in, float *total, int n) {
  reduce<<<(n + 255) / 256, 256>>>(in, total, n);
}
