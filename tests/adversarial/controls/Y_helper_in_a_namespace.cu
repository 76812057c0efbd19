// SPDX-License-Identifier: Apache-2.0
// Three elements a thread, by a function of its own in a namespace.
// base: copyscale
// expect: accepted
#include <kopt/kopt.h>

namespace helper {
__device__ void scale(const float *in, float *out, float factor, int begin, int end) {
  for (int k = begin; k < end; ++k)
    out[k] = factor * in[k];
}
}

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  helper::scale(in, out, factor, 3 * i, 3 * i + 3 < n ? 3 * i + 3 : n);
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
