// SPDX-License-Identifier: Apache-2.0
// Looks at a clock of its own accord: its result does not hang on it.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void clocked(const float *in, float *out, int n) {
  long long begun = clock64();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? in[i] * in[i] : 0.0f;
  long long took = clock64() - begun;
  if (i < n)
    out[i] = took < 0 ? 0.0f : value;
}

void run(const float *in, float *out, int n) {
  clocked<<<(n + 127) / 128, 128>>>(in, out, n);
}
