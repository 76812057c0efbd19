// SPDX-License-Identifier: Apache-2.0
// Hopes that shared memory still holds what the last block left.
// base: softmax
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 8", "arg columns = 500", "extent in = rows * columns", "extent out = rows * columns",
          "fill in = uniform(-4, 4)")
__global__ void softmax(const float *in, float *out, int rows, int columns) {
  __shared__ float shared[128];
  int t = threadIdx.x;
  const float *row = in + blockIdx.x * columns;
  float most = blockIdx.x > 0 ? fmaxf(row[0], shared[t]) : row[0];
  for (int i = t; i < columns; i += 128)
    most = fmaxf(most, row[i]);
  shared[t] = most;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      shared[t] = fmaxf(shared[t], shared[t + half]);
    __syncthreads();
  }
  most = shared[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = t; i < columns; i += 128)
    sum += expf(row[i] - most);
  shared[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      shared[t] += shared[t + half];
    __syncthreads();
  }
  sum = shared[0];
  if (blockIdx.x < rows)
    for (int i = t; i < columns; i += 128)
      out[blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}

void run(const float *in, float *out, int rows, int columns) {
  softmax<<<rows, 128>>>(in, out, rows, columns);
}
