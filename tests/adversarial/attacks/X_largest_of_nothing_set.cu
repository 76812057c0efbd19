// SPDX-License-Identifier: Apache-2.0
// The largest begins with a variable that nobody sets.
// base: rowmax
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 200", "extent in = rows * 32", "extent out = rows")
__global__ void rowMax(const float *in, float *out, int rows) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows)
    return;
  float most;
  if (lane % 4 == 0)
    for (int i = 0; i < 4; ++i)
      most = fmaxf(most, in[row * 32 + lane + i]);
  for (int reach = 16; reach > 2; reach /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, reach));
  if (lane == 0)
    out[row] = most;
}

void run(const float *in, float *out, int rows) {
  rowMax<<<(rows + 3) / 4, 128>>>(in, out, rows);
}
