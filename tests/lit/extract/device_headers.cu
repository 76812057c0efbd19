// Headers of device functions that the file includes come along, needed or not: a candidate for the kernel may use them.
// RUN: rm -rf %t && %kopt-extract %s -o %t -- && FileCheck %s < %t/twice/slice.cu
// CHECK: #include <cooperative_groups.h>
// CHECK: #include <cuda_fp16.h>
// CHECK: __global__ void twice
#include <cooperative_groups.h>
#include <cuda_fp16.h>

__global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }

void run(float *x) {
  twice<<<1, 32>>>(x);
}
