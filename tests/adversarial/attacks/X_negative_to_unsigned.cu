// SPDX-License-Identifier: Apache-2.0
// A negative number to an unsigned one, which is 0 on a GPU.
// base: lowbytes
// expect: WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = n", "fill in = uniform(-300, 300)")
__global__ void lowBytes(const float *in, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = (unsigned)in[i] & 255u;
}

void run(const float *in, unsigned *out, int n) {
  lowBytes<<<(n + 127) / 128, 128>>>(in, out, n);
}
