// SPDX-License-Identifier: Apache-2.0
// Beyond 12288 elements it reads from the beginning again: a result that jumps is no excuse.
// base: keys
// expect: WrongResult by sizes|contents
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 9000", "extent a = n", "extent b = n", "extent key = n", "fill a = uniform(-1, 1)", "fill b = uniform(-1, 1)")
__global__ void keys(const float *a, const float *b, unsigned *key, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned bits = __float_as_uint(a[i % 12288] + b[i]);
  key[i] = bits ^ (unsigned(int(bits) >> 31) | 0x80000000u);
}

void run(const float *a, const float *b, unsigned *key, int n) {
  keys<<<(n + 127) / 128, 128>>>(a, b, key, n);
}
