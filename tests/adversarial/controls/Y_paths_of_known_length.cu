// SPDX-License-Identifier: Apache-2.0
// Loops of a known length for the numbers that the array is long enough for. With others the original
// writes behind its array, so what either leaves there means nothing.
// base: paths
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 256", "arg steps = 80", "arg first = 40", "extent rates = steps", "extent out = n")
__global__ void paths(const float *rates, float *out, int n, int steps, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float value = 1.0f + i;
  float sum = 0;
  if (steps - first == 40) {
#pragma unroll
    for (int s = 0; s < 40; ++s) {
      value *= 1.0f + 0.001f * rates[first + s];
      sum += value * rates[s];
    }
    out[i] = sum;
    return;
  }
  float discount[40];
  for (int s = 0; s < steps - first; ++s) {
    value *= 1.0f + 0.001f * rates[first + s];
    discount[s] = value;
  }
  for (int s = 0; s < steps - first; ++s)
    sum += discount[s] * rates[s];
  out[i] = sum;
}

void run(const float *rates, float *out, int n, int steps, int first) {
  paths<<<(n + 127) / 128, 128>>>(rates, out, n, steps, first);
}
