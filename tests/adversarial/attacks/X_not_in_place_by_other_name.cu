// SPDX-License-Identifier: Apache-2.0
// Without the stage in shared memory: the program passes one pointer by two names.
// base: mirror
// expect: RunFailed by races
// expect on cuda: RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void mirror(const float *in, float *out, int n) {
  int t = threadIdx.x, first = blockIdx.x * 128, last = min(n, first + 128) - 1;
  if (first + t < n)
    out[first + t] = 2.0f * in[last - t];
}

struct Signal {
  float *samples;
  int length;
};

void run(Signal signal) {
  const float *from = signal.samples;
  mirror<<<(signal.length + 127) / 128, 128>>>(from, &signal.samples[0], signal.length);
}
