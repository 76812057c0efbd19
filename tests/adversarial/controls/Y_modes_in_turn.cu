// SPDX-License-Identifier: Apache-2.0
// Conditions in place of the cases.
// base: activate
// expect: accepted
#include <kopt/kopt.h>

enum { kNone, kRelu, kGelu, kTanh, kSoftplus, kClipped };

KOPT_TUNE("arg n = 5000", "arg mode = 1", "arg limit = 6.0", "extent in = n", "extent out = n")
__global__ void activate(const float *in, float *out, int mode, float limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = in[i];
  if (mode == kTanh)
    x = tanhf(x);
  else if (mode == kGelu)
    x = fmaf(0.5f * x, erff(x * 0.70710678f), 0.5f * x);
  else if (mode == kSoftplus)
    x = x > 20.0f ? x : log1pf(expf(x));
  else if (mode == kRelu || mode == kClipped)
    x = fminf(fmaxf(x, 0.0f), mode == kRelu ? INFINITY : limit);
  out[i] = x;
}

void run(const float *in, float *out, int mode, float limit, int n) {
  activate<<<(n + 127) / 128, 128>>>(in, out, mode, limit, n);
}
