// SPDX-License-Identifier: Apache-2.0
// Two elements a thread, with a type alias of its own beside the kernel.
// base: copyscale
// expect: accepted
#include <kopt/kopt.h>

using Two = float2;

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    Two v = reinterpret_cast<const Two *>(in)[i];
    reinterpret_cast<Two *>(out)[i] = make_float2(factor * v.x, factor * v.y);
  } else if (2 * i < n) {
    out[2 * i] = factor * in[2 * i];
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
