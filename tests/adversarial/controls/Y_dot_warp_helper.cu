// SPDX-License-Identifier: Apache-2.0
// The helper by shuffles and one word for each warp.
// base: dot
// expect: accepted
#include <kopt/kopt.h>

template <class T, int Threads> __device__ T sumOfBlock(T value) {
  __shared__ T part[Threads / 32];
  for (int reach = 16; reach > 0; reach /= 2)
    value += __shfl_down_sync(0xffffffffu, value, reach);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (int w = 0; w < Threads / 32; ++w)
    value += part[w];
  return value;
}

KOPT_TUNE("arg rows = 40", "arg columns = 300", "extent a = rows * columns", "extent b = columns", "extent out = rows")
__global__ void dot(const double *a, const double *b, double *out, int rows, int columns) {
  double sum = 0.0;
  for (int j = threadIdx.x; j < columns; j += 64)
    sum += a[blockIdx.x * columns + j] * b[j];
  sum = sumOfBlock<double, 64>(sum);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

void run(const double *a, const double *b, double *out, int rows, int columns) {
  dot<<<rows, 64>>>(a, b, out, rows, columns);
}
