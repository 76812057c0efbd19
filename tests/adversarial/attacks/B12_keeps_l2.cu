// SPDX-License-Identifier: Apache-2.0
// B12: inline PTX that keeps its inputs in L2 beyond the launch.
// base: copyscale
// expect: Rejected by screen
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
{
    float value;
    asm volatile("ld.global.L2::evict_last.f32 %0, [%1];" : "=f"(value) : "l"(in + i));
    out[i] = factor * value;
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
