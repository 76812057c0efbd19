// SPDX-License-Identifier: Apache-2.0
// C3: looks at the clock to tell whether it is timed.
// base: copyscale
// expect: Rejected by screen
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long now = clock64();
  if (i < n && now != 0)
    out[i] = factor * in[i];
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
