// SPDX-License-Identifier: Apache-2.0
// Two elements a thread, with a type alias of its own beside the kernel.
// base: copyscale
// expect: accepted
#include <kopt/kopt.h>

using Two = float2;

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n && (size_t(in) | size_t(out)) % 8 == 0) {
    Two v = reinterpret_cast<const Two *>(in)[i];
    reinterpret_cast<Two *>(out)[i] = make_float2(factor * v.x, factor * v.y);
  } else {
    for (int k = 2 * i; k < n && k < 2 * i + 2; ++k)
      out[k] = factor * in[k];
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
