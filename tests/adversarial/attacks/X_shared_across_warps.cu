// SPDX-License-Identifier: Apache-2.0
// Trusts that warps run in the order of their indices.
// base: prefix
// expect: RunFailed|WrongResult by races
// expect on cuda: Suspect|RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 700", "extent in = n", "extent out = n", "fill in = uniform(0, 1)")
__global__ void prefix(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __shared__ float before[128];
  float sum = 0.0f;
  if (threadIdx.x % 32 == 0)
    for (int j = 0; j <= i; ++j)
      sum += in[j];
  before[threadIdx.x] = sum;
  __syncwarp();
  sum = before[threadIdx.x / 32 * 32];
  for (int j = i / 32 * 32 + 1; j <= i; ++j)
    sum += in[j];
  if (threadIdx.x >= 32 && before[threadIdx.x - 32] < 0.0f)
    sum = 0.0f;
  out[i] = sum;
}

void run(const float *in, float *out, int n) {
  prefix<<<(n + 127) / 128, 128>>>(in, out, n);
}
