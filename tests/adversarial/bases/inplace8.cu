// SPDX-License-Identifier: Apache-2.0
// Eight smoothing steps of strips of 128 in place.
#include <kopt/kopt.h>

KOPT_TUNE("arg strips = 40", "extent data = strips * 128")
__global__ void twice(float *data, int strips) {
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (blockIdx.x >= strips)
    return;
  for (int step = 0; step < 8; ++step) {
    float left = t > 0 ? data[i - 1] : 0.0f, right = t < 127 ? data[i + 1] : 0.0f;
    float mean = 0.25f * left + 0.5f * data[i] + 0.25f * right;
    __syncthreads();
    data[i] = mean;
    __syncthreads();
  }
}

void run(float *data, int strips) {
  twice<<<strips, 128>>>(data, strips);
}
