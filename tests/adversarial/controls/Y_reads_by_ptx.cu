// SPDX-License-Identifier: Apache-2.0
// A read-only load as inline PTX, which the emulated device cannot run.
// base: copyscale
// expect: BuildFailed
// expect on cuda: accepted|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    {
    float v;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(in + i));
    out[i] = factor * v;
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
