// SPDX-License-Identifier: Apache-2.0
// Reverses each stretch of 128 elements; used in place, too.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void reverse(const float *in, float *out, int n) {
  __shared__ float stage[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  int last = min(n, int(blockIdx.x + 1) * 128) - 1;
  if (i < n)
    stage[t] = in[i];
  __syncthreads();
  if (i < n)
    out[i] = stage[last - int(blockIdx.x) * 128 - t];
}

void run(const float *in, float *out, int n) {
  reverse<<<(n + 127) / 128, 128>>>(in, out, n);
}

void runInPlace(float *data, int n) {
  reverse<<<(n + 127) / 128, 128>>>(data, data, n);
}
