// SPDX-License-Identifier: Apache-2.0
// One shuffle and four more on half the lanes' values.
// base: rowmax
// expect: accepted
// expect on cuda: accepted|Duplicate
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 200", "extent in = rows * 32", "extent out = rows")
__global__ void rowMax(const float *in, float *out, int rows) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows)
    return;
  float most = in[row * 32 + lane];
#pragma unroll
  for (int reach = 16; reach > 0; reach >>= 1)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, reach));
  if (lane == 0)
    out[row] = most;
}

void run(const float *in, float *out, int rows) {
  rowMax<<<(rows + 3) / 4, 128>>>(in, out, rows);
}
