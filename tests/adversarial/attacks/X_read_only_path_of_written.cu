// SPDX-License-Identifier: Apache-2.0
// Reads by the read-only path what the kernel itself writes.
// base: inplace8
// expect: RunFailed|WrongResult|Suspect
#include <kopt/kopt.h>

KOPT_TUNE("arg strips = 40", "extent data = strips * 128")
__global__ void twice(float *data, int strips) {
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (blockIdx.x >= strips)
    return;
  float own = data[i];
  for (int step = 0; step < 8; ++step) {
    float left = t > 0 ? __ldg(data + i - 1) : 0.0f, right = t < 127 ? __ldg(data + i + 1) : 0.0f;
    own = 0.25f * left + 0.5f * own + 0.25f * right;
    __syncthreads();
    data[i] = own;
    __syncthreads();
  }
}

void run(float *data, int strips) {
  twice<<<strips, 128>>>(data, strips);
}
