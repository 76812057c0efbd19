// SPDX-License-Identifier: Apache-2.0
// Elements of a block, one after the other by its threads, as many as a constant of its own beside the kernel says.
// base: copyscale
// expect: accepted
#include <kopt/kopt.h>

constexpr int kWide = 4;

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int first = blockIdx.x * blockDim.x * kWide + threadIdx.x;
  for (int k = 0; k < kWide; ++k) {
    int i = first + k * blockDim.x;
    if (i < n)
      out[i] = factor * in[i];
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
