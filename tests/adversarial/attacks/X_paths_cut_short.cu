// SPDX-License-Identifier: Apache-2.0
// Never more than 32 of the declared 40 steps where there are fewer rates; the array is long enough there.
// base: paths
// expect: WrongResult by scalars|sizes|coverage
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 256", "arg steps = 80", "arg first = 40", "extent rates = steps", "extent out = n")
__global__ void paths(const float *rates, float *out, int n, int steps, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float value = 1.0f + i;
  float sum = 0;
  int length = steps == 80 ? steps - first : min(steps - first, 32);
  for (int s = 0; s < length; ++s) {
    value *= 1.0f + 0.001f * rates[first + s];
    sum += value * rates[s];
  }
  out[i] = sum;
}

void run(const float *rates, float *out, int n, int steps, int first) {
  paths<<<(n + 127) / 128, 128>>>(rates, out, n, steps, first);
}
