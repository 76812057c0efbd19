// A header comes along where the kernel uses something of it, and not otherwise: not those of the host, of libraries for kernels, or of
// the language's own limits.
// REQUIRES: nvcc, long
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 | FileCheck %s --check-prefix=SUMMARY
// SUMMARY-DAG: twice: slice, proven
// SUMMARY-DAG: bounded: slice, proven
// SUMMARY-DAG: checked: slice, proven
// SUMMARY-DAG: summed: slice, proven
// SUMMARY-DAG: halved: slice, proven
// RUN: FileCheck %s --implicit-check-not=#include --check-prefix=TWICE < %t/twice/slice.cu
// RUN: FileCheck %s --implicit-check-not=#include --check-prefix=BOUNDED < %t/bounded/slice.cu
// RUN: FileCheck %s --implicit-check-not=#include --check-prefix=CHECKED < %t/checked/slice.cu
// RUN: FileCheck %s --implicit-check-not=#include --check-prefix=SUMMED < %t/summed/slice.cu
// RUN: FileCheck %s --implicit-check-not=#include --check-prefix=HALVED < %t/halved/slice.cu
// Text that nvcc has not compared keeps every header.
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s --no-proof -o %t -- && FileCheck %s --check-prefix=ALL < %t/twice/slice.cu
// ALL: #include <cub/cub.cuh>
// ALL: #include <cfloat>
// ALL: #include <vector>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <cublas_v2.h>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <assert.h>
#include <cfloat>
#include <chrono>
#include <iostream>
#include <vector>

// TWICE: __global__ void twice
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = fmaxf(sqrtf(x[i]), float4{1, 2, 3, 4}.x);
  __syncthreads();
}

// BOUNDED: #include <cfloat>
// BOUNDED: __global__ void bounded
__global__ void bounded(float *x) { x[threadIdx.x] = FLT_MAX; }

// CHECKED: #include <assert.h>
// CHECKED: __global__ void checked
__global__ void checked(float *x, int n) {
  assert(n > 0);
  x[threadIdx.x] = 1;
}

// SUMMED: #include <cooperative_groups.h>
// SUMMED: __global__ void summed
__global__ void summed(float *x) {
  cooperative_groups::this_thread_block().sync();
  x[threadIdx.x] += 1;
}

// HALVED: #include <cuda_fp16.h>
// HALVED: __global__ void halved
__global__ void halved(__half *x) { x[threadIdx.x] = __float2half(0.5f); }

void run(float *x, __half *h, int n) {
  std::vector<int> sizes = {32};
  twice<<<1, sizes[0]>>>(x, n);
  bounded<<<1, 32>>>(x);
  checked<<<1, 32>>>(x, n);
  summed<<<1, 32>>>(x);
  halved<<<1, 32>>>(h);
}
