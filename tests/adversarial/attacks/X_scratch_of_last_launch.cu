// SPDX-License-Identifier: Apache-2.0
// Reads what the last launch left in memory of the module.
// base: scratch
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

__device__ float scratch[1 << 15];

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void reverse(const float *in, float *out, int n) {
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  if (i < n && scratch[i] != in[i])
    scratch[i] = blockIdx.x % 2 == 0 ? in[i] : scratch[i] == 0.0f ? in[i] : scratch[i];
  __syncthreads();
  int last = min(n, int(blockIdx.x + 1) * 128) - 1;
  if (i < n)
    out[i] = scratch[last - t];
}

void run(const float *in, float *out, int n) {
  reverse<<<(n + 127) / 128, 128>>>(in, out, n);
}
