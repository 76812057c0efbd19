// SPDX-License-Identifier: Apache-2.0
// Mirrors each stretch of 128 elements in place, by two names of the same pointer.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void mirror(const float *in, float *out, int n) {
  __shared__ float stage[128];
  int t = threadIdx.x, first = blockIdx.x * 128, last = min(n, first + 128) - 1;
  if (first + t < n)
    stage[t] = 2.0f * in[first + t];
  __syncthreads();
  if (first + t < n)
    out[first + t] = stage[last - first - t];
}

struct Signal {
  float *samples;
  int length;
};

void run(Signal signal) {
  const float *from = signal.samples;
  mirror<<<(signal.length + 127) / 128, 128>>>(from, &signal.samples[0], signal.length);
}
