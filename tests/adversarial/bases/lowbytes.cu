// SPDX-License-Identifier: Apache-2.0
// The low byte of each number without its fraction.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n", "fill in = uniform(-300, 300)")
__global__ void lowBytes(const float *in, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = (unsigned)(int)in[i] & 255u;
}

void run(const float *in, unsigned *out, int n) {
  lowBytes<<<(n + 127) / 128, 128>>>(in, out, n);
}
