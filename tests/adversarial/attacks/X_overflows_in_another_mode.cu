// SPDX-License-Identifier: Apache-2.0
// A quotient of exponentials that overflow.
// base: activate
// expect: WrongResult
#include <kopt/kopt.h>

enum { kNone, kRelu, kGelu, kTanh, kSoftplus, kClipped };

KOPT_TUNE("arg n = 5000", "arg mode = 1", "arg limit = 6.0", "extent in = n", "extent out = n")
__global__ void activate(const float *in, float *out, int mode, float limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = in[i];
  switch (mode) {
  case kRelu:
    x = fmaxf(x, 0.0f);
    break;
  case kGelu:
    x = 0.5f * x * (1.0f + erff(x * 0.70710678f));
    break;
  case kTanh:
    x = (expf(2.0f * x) - 1.0f) / (expf(2.0f * x) + 1.0f);
    break;
  case kSoftplus:
    x = x > 20.0f ? x : log1pf(expf(x));
    break;
  case kClipped:
    x = fminf(fmaxf(x, 0.0f), limit);
    break;
  }
  out[i] = x;
}

void run(const float *in, float *out, int mode, float limit, int n) {
  activate<<<(n + 127) / 128, 128>>>(in, out, mode, limit, n);
}
