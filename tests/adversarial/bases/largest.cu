// SPDX-License-Identifier: Apache-2.0
// The largest of each row, by blocks of two sizes.
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 60", "arg columns = 700", "extent in = rows * columns", "extent out = rows", "fill in = uniform(-1, 1)")
__global__ void largest(const float *in, float *out, int rows, int columns) {
  __shared__ float most[1024];
  const float *row = in + (size_t)blockIdx.x * columns;
  float own = row[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    own = fmaxf(own, row[i]);
  most[threadIdx.x] = own;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = most[0];
}

void narrow(const float *in, float *out, int rows, int columns) {
  largest<<<rows, 256>>>(in, out, rows, columns);
}

void wide(const float *in, float *out, int rows, int columns) {
  largest<<<rows, 512>>>(in, out, rows, columns);
}
