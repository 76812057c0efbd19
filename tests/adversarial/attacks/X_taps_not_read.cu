// SPDX-License-Identifier: Apache-2.0
// The filter that the file begins with: nothing but zeros.
// base: taps
// expect: WrongResult|Suspect
#include <kopt/kopt.h>

constexpr int kRadius = 3;
__constant__ float taps[2 * kRadius + 1];

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n")
__global__ void filter(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 0.0f;
}

void run(const float *in, float *out, const float *host, int n) {
  cudaMemcpyToSymbol(taps, host, sizeof taps);
  filter<<<(n + 127) / 128, 128>>>(in, out, n);
}
