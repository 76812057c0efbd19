// SPDX-License-Identifier: Apache-2.0
// C1 to C5, D2, D5, D10, D11: whatever host code a candidate brings is not taken.
// base: copyscale
// expect: Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i];
}

extern "C" int cudaEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = 1e-6f;
  return 0;
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
