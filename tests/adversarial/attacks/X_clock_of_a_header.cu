// SPDX-License-Identifier: Apache-2.0
// The clock by a function of the toolkit's headers.
// base: copyscale
// expect: Rejected|BuildFailed
#include <kopt/kopt.h>
#include <cuda/std/chrono>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = cuda::std::chrono::system_clock::now().time_since_epoch().count() ? factor * in[i] : 0;
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
