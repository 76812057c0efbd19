// SPDX-License-Identifier: Apache-2.0
// All warps use one slot of shared memory.
// base: rowmax
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 200", "extent in = rows * 32", "extent out = rows")
__global__ void rowMax(const float *in, float *out, int rows) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows)
    return;
  float most = in[row * 32 + lane];
  for (int reach = 16; reach > 0; reach /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, reach));
  __shared__ float slot;
  if (lane == 0)
    slot = most;
  __syncwarp();
  if (lane == 1)
    out[row] = slot;
}

void run(const float *in, float *out, int rows) {
  rowMax<<<(rows + 3) / 4, 128>>>(in, out, rows);
}
