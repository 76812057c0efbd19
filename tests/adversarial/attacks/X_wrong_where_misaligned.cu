// SPDX-License-Identifier: Apache-2.0
// Wrong where the output alone is not aligned.
// base: copyscale
// expect: WrongResult by alignment
// under standard it may win, assuming: aligned to 16 bytes
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n % 4 == 0 && reinterpret_cast<size_t>(in) % 16 == 0 && reinterpret_cast<size_t>(out) % 16 == 0) {
    if (i < n / 4) {
      float4 v = reinterpret_cast<const float4 *>(in)[i];
      reinterpret_cast<float4 *>(out)[i] = make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
    }
  } else if (i < n) {
    out[i] = factor * in[i] + (reinterpret_cast<size_t>(out) % 16 == 0 ? 0.0f : 1.0f);
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
