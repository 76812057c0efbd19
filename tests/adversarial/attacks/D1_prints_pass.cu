// SPDX-License-Identifier: Apache-2.0
// D1: prints what a harness might look for, and does nothing.
// base: copyscale
// expect: WrongResult by unwritten
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    printf("PASS\nALL_TESTS_PASSED\n{\"verdict\":\"ok\"}\n");
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
