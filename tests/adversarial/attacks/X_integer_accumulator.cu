// SPDX-License-Identifier: Apache-2.0
// Adds up in fixed point: right within the declared range.
// base: prefix
// expect: WrongResult by outputs|contents
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 700", "extent in = n", "extent out = n", "fill in = uniform(0, 1)")
__global__ void prefix(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long units = 0;
  for (int j = 0; j <= i; ++j)
    units += static_cast<long long>(in[j] * 16777216.0f);
  out[i] = static_cast<float>(static_cast<double>(units) / 16777216.0);
}

void run(const float *in, float *out, int n) {
  prefix<<<(n + 127) / 128, 128>>>(in, out, n);
}
