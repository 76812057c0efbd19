// SPDX-License-Identifier: Apache-2.0
// Exponentials over thirty orders of magnitude.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n", "fill in = uniform(-20, 20)")
__global__ void growth(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = expf(in[i]);
}

void run(const float *in, float *out, int n) {
  growth<<<(n + 127) / 128, 128>>>(in, out, n);
}
