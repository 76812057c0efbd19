// SPDX-License-Identifier: Apache-2.0
// E5: templates without end.
// base: copyscale
// expect: BuildFailed|Rejected
#include <kopt/kopt.h>

template <int N> struct Deep {
  static constexpr int value = Deep<N - 1>::value + Deep<N - 2>::value;
};

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i] + 0 * Deep<100000>::value;
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
