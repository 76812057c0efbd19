// SPDX-License-Identifier: Apache-2.0
// Products in single precision.
// base: dot
// expect: WrongResult|RunFailed
#include <kopt/kopt.h>

template <class T, int Threads> __device__ T sumOfBlock(T value) {
  __shared__ T part[Threads];
  part[threadIdx.x] = value;
  __syncthreads();
  for (int half = Threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  return part[0];
}

KOPT_TUNE("arg rows = 40", "arg columns = 300", "extent a = rows * columns", "extent b = columns", "extent out = rows")
__global__ void dot(const double *a, const double *b, double *out, int rows, int columns) {
  double sum = 0.0;
  for (int j = threadIdx.x; j < columns; j += 64)
    sum += double(float(a[blockIdx.x * columns + j]) * float(b[j]));
  sum = sumOfBlock<double, 64>(sum);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

void run(const double *a, const double *b, double *out, int rows, int columns) {
  dot<<<rows, 64>>>(a, b, out, rows, columns);
}
