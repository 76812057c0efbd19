// SPDX-License-Identifier: Apache-2.0
// Shuffles within warps, however many there are.
// base: largest
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 60", "arg columns = 700", "extent in = rows * columns", "extent out = rows", "fill in = uniform(-1, 1)")
__global__ void largest(const float *in, float *out, int rows, int columns) {
  __shared__ float most[1024];
  const float *row = in + (size_t)blockIdx.x * columns;
  float own = row[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    own = fmaxf(own, row[i]);
  for (int reach = 16; reach > 0; reach /= 2)
    own = fmaxf(own, __shfl_xor_sync(0xffffffffu, own, reach));
  if (threadIdx.x % 32 == 0)
    most[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int warp = 1; warp < blockDim.x / 32; ++warp)
      most[0] = fmaxf(most[0], most[warp]);
  if (threadIdx.x == 0)
    out[blockIdx.x] = most[0];
}

void narrow(const float *in, float *out, int rows, int columns) {
  largest<<<rows, 256>>>(in, out, rows, columns);
}

void wide(const float *in, float *out, int rows, int columns) {
  largest<<<rows, 512>>>(in, out, rows, columns);
}
