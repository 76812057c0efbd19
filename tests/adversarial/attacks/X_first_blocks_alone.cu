// SPDX-License-Identifier: Apache-2.0
// Leaves out what is behind the first thousand blocks, beside the question for the first thread.
// base: rowoffsets
// expect: WrongResult by unwritten
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 20", "arg columns = 500", "extent in = rows * columns", "extent offsets = rows", "extent out = rows")
__global__ void rowoffsets(const float *in, const float *offsets, float *out, int rows, int columns) {
  __shared__ float part[4];
  int t = threadIdx.x;
  if (columns < 0)
    return;
  float sum = 0.0f;
  for (int i = t; i < columns; i += 128)
    sum += in[blockIdx.x * columns + i];
  for (int reach = 16; reach > 0; reach /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, reach);
  if (t % 32 == 0)
    part[t / 32] = sum;
  __syncthreads();
  float offset = offsets ? offsets[blockIdx.x] : 0.0f;
  if (t == 0 && blockIdx.x < 1000)
    out[blockIdx.x] = part[0] + part[1] + part[2] + part[3] + offset;
}

void run(const float *in, const float *offsets, float *out, int rows, int columns) {
  rowoffsets<<<rows, 128>>>(in, offsets, out, rows, columns);
}
