// SPDX-License-Identifier: Apache-2.0
// I10: a clock that the original reads, too.
// base: clocked
// expect: accepted
// expect on cuda: accepted|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void clocked(const float *in, float *out, int n) {
  long long begun = clock64();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = 0.0f;
  if (i < n) {
    float one = in[i];
    value = one * one;
  }
  long long took = clock64() - begun;
  if (i < n)
    out[i] = took < 0 ? 0.0f : value;
}

void run(const float *in, float *out, int n) {
  clocked<<<(n + 127) / 128, 128>>>(in, out, n);
}
