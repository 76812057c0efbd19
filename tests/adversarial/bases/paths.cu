// SPDX-License-Identifier: Apache-2.0
// A local array that is just long enough for the declared numbers.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 256", "arg steps = 80", "arg first = 40", "extent rates = steps", "extent out = n")
__global__ void paths(const float *rates, float *out, int n, int steps, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float discount[40];
  float value = 1.0f + i;
  for (int s = 0; s < steps - first; ++s) {
    value *= 1.0f + 0.001f * rates[first + s];
    discount[s] = value;
  }
  float sum = 0;
  for (int s = 0; s < steps - first; ++s)
    sum += discount[s] * rates[s];
  out[i] = sum;
}

void run(const float *rates, float *out, int n, int steps, int first) {
  paths<<<(n + 127) / 128, 128>>>(rates, out, n, steps, first);
}
