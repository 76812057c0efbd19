// SPDX-License-Identifier: Apache-2.0
// A17: changes an input and puts it back: whoever else reads it meanwhile sees the change.
// base: copyscale
// expect: WrongResult by inputs
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
{
    float *mine = const_cast<float *>(in);
    float kept = mine[i];
    mine[i] = factor * kept;
    out[i] = mine[i];
    mine[i] = kept;
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
