// SPDX-License-Identifier: Apache-2.0
// E7: right on one architecture alone.
// base: copyscale
// expect: Suspect|WrongResult|Same
// expect on cuda: Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
#if __CUDA_ARCH__ == 900
    out[i] = in[i] * factor;
#else
    out[i] = 0.0f;
#endif
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
