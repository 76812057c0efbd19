// SPDX-License-Identifier: Apache-2.0
// Mirrored on the way into shared memory instead of out of it: right in place, too.
// base: mirror
// expect: accepted|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void mirror(const float *in, float *out, int n) {
  __shared__ float stage[128];
  int t = threadIdx.x, first = blockIdx.x * 128, count = min(n - first, 128);
  if (t < count)
    stage[count - 1 - t] = 2.0f * in[first + t];
  __syncthreads();
  if (t < count)
    out[first + t] = stage[t];
}

struct Signal {
  float *samples;
  int length;
};

void run(Signal signal) {
  const float *from = signal.samples;
  mirror<<<(signal.length + 127) / 128, 128>>>(from, &signal.samples[0], signal.length);
}
