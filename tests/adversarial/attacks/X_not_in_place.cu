// SPDX-License-Identifier: Apache-2.0
// Without the stage in shared memory: wrong where the program reverses in place, at its other launch.
// base: reverse2
// expect: RunFailed by races
// expect on cuda: RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void reverse(const float *in, float *out, int n) {
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  int last = min(n, int(blockIdx.x + 1) * 128) - 1;
  if (i < n)
    out[i] = in[last - t];
}

void run(const float *in, float *out, int n) {
  reverse<<<(n + 127) / 128, 128>>>(in, out, n);
}

void runInPlace(float *data, int n) {
  reverse<<<(n + 127) / 128, 128>>>(data, data, n);
}
