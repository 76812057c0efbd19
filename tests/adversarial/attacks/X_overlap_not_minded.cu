// SPDX-License-Identifier: Apache-2.0
// Without the barrier: what one thread reads another one writes, as input and output overlap at the launch.
// base: shift
// expect: RunFailed by races
// expect on cuda: RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 900", "extent in = n", "extent out = n")
__global__ void shift(const float *in, float *out, int n) {
  int t = threadIdx.x;
  if (t < n)
    out[t] = 0.5f * in[t];
}

void run(float *data, int n) {
  shift<<<1, 1024>>>(data + 1, data, n);
}
