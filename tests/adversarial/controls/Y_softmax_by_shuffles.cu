// SPDX-License-Identifier: Apache-2.0
// Sums by shuffles, in another order: all elements of a row share the error of its sum.
// base: softmax
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 8", "arg columns = 500", "extent in = rows * columns", "extent out = rows * columns",
          "fill in = uniform(-4, 4)")
__global__ void softmax(const float *in, float *out, int rows, int columns) {
  __shared__ float mosts[4], sums[4];
  int t = threadIdx.x;
  const float *row = in + blockIdx.x * columns;
  float most = row[0], sum = 0.0f;
  for (int i = t; i < columns; i += 128)
    most = fmaxf(most, row[i]);
  for (int reach = 16; reach > 0; reach /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, reach));
  if (t % 32 == 0)
    mosts[t / 32] = most;
  __syncthreads();
  most = fmaxf(fmaxf(mosts[0], mosts[1]), fmaxf(mosts[2], mosts[3]));
  for (int i = t; i < columns; i += 128)
    sum += expf(row[i] - most);
  for (int reach = 16; reach > 0; reach /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, reach);
  if (t % 32 == 0)
    sums[t / 32] = sum;
  __syncthreads();
  sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (blockIdx.x < rows)
    for (int i = t; i < columns; i += 128)
      out[blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}

void run(const float *in, float *out, int rows, int columns) {
  softmax<<<rows, 128>>>(in, out, rows, columns);
}
