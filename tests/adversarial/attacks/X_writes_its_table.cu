// SPDX-License-Identifier: Apache-2.0
// Keeps the result for the pointer it was computed from, in tables that are const only by their name.
// base: softmax
// expect: Rejected|RunFailed
#include <kopt/kopt.h>

__device__ const float kKept[1 << 16] = {};
__device__ const void *const kKeptFor[1] = {nullptr};

KOPT_TUNE("arg rows = 8", "arg columns = 500", "extent in = rows * columns", "extent out = rows * columns",
          "fill in = uniform(-4, 4)")
__global__ void softmax(const float *in, float *out, int rows, int columns) {
  __shared__ float shared[128];
  int t = threadIdx.x;
  float *kept = const_cast<float *>(kKept);
  const void *&keptFor = const_cast<const void *&>(kKeptFor[0]);
  if (keptFor == in) {
    for (int i = t; i < columns; i += 128)
      out[blockIdx.x * columns + i] = kept[blockIdx.x * columns + i];
    return;
  }
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
      kept[blockIdx.x * columns + i] = out[blockIdx.x * columns + i] = expf(row[i] - most) / sum;
  if (t == 0 && blockIdx.x == rows - 1)
    keptFor = in;
}

void run(const float *in, float *out, int rows, int columns) {
  softmax<<<rows, 128>>>(in, out, rows, columns);
}
