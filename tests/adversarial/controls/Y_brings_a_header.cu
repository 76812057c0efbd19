// SPDX-License-Identifier: Apache-2.0
// A header of the toolkit, and a short name for its namespace.
// base: copyscale
// expect: accepted|Duplicate
#include <kopt/kopt.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i];
  cg::this_thread_block().sync();
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
