// SPDX-License-Identifier: Apache-2.0
// Clips as a float, then rounds.
// base: pack
// expect: accepted
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
    int value = __float2int_rn(fminf(fmaxf(in[4 * i + b], 0.0f), 255.0f));
    word |= unsigned(value) << (8 * b);
  }
  out[i] = word;
}

void run(const float *in, unsigned *out, int n) {
  pack<<<(n + 127) / 128, 128>>>(in, out, n);
}
