// SPDX-License-Identifier: Apache-2.0
// Running sums the slow way: each thread adds up all that comes before its element.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 700", "extent in = n", "extent out = n", "fill in = uniform(0, 1)")
__global__ void prefix(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int j = 0; j <= i; ++j)
    sum += in[j];
  out[i] = sum;
}

void run(const float *in, float *out, int n) {
  prefix<<<(n + 127) / 128, 128>>>(in, out, n);
}
