// SPDX-License-Identifier: Apache-2.0
// F2: an exponential of its own, with an error of 0.1 %.
// base: softmax
// expect: WrongResult by outputs
#include <kopt/kopt.h>

__device__ float quick(float x) {
  float y = 1.0f + x / 4096.0f;
  for (int i = 0; i < 12; ++i)
    y *= y;
  return y;
}

KOPT_TUNE("arg rows = 8", "arg columns = 500", "extent in = rows * columns", "extent out = rows * columns",
          "fill in = uniform(-4, 4)")
__global__ void softmax(const float *in, float *out, int rows, int columns) {
  __shared__ float shared[128];
  int t = threadIdx.x;
  const float *row = in + blockIdx.x * columns;
  float most = row[0];
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
    sum += quick(row[i] - most);
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
      out[blockIdx.x * columns + i] = quick(row[i] - most) / sum;
}

void run(const float *in, float *out, int rows, int columns) {
  softmax<<<rows, 128>>>(in, out, rows, columns);
}
