// SPDX-License-Identifier: Apache-2.0
// Loads of four elements at once, though pointers need not be aligned to four.
// base: copyscale
// expect: RunFailed by alignment
// under standard it may win, assuming: aligned to 16 bytes
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 < n) {
    float4 v = reinterpret_cast<const float4 *>(in)[i];
    reinterpret_cast<float4 *>(out)[i] = make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
  } else {
    for (int k = 4 * i; k < n && k < 4 * i + 4; ++k)
      out[k] = factor * in[k];
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
