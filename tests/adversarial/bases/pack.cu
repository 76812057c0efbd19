// SPDX-License-Identifier: Apache-2.0
// Packs four bytes of grey into a word, rounding and clipping.
#include <kopt/kopt.h>

struct Grey {
  float gain, offset;
  int mode;
};

KOPT_TUNE("arg n = 5000", "extent in = 4 * n", "extent out = n", "fill in = uniform(-20, 300)")
__global__ void pack(const float *in, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned word = 0;
  for (int b = 0; b < 4; ++b) {
    int value = __float2int_rn(in[4 * i + b]);
    value = max(0, min(255, value));
    word |= unsigned(value) << (8 * b);
  }
  out[i] = word;
}

void run(const float *in, unsigned *out, int n) {
  pack<<<(n + 127) / 128, 128>>>(in, out, n);
}
