// SPDX-License-Identifier: Apache-2.0
// B10: keeps memory of the device heap from launch to launch.
// base: copyscale
// expect: Rejected by screen
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
{
    float *kept = static_cast<float *>(malloc(4));
    *kept = factor * in[i];
    out[i] = *kept;
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
