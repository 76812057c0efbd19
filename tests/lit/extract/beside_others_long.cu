// A shared variable that one kernel alone uses is written inside it by nvcc, beside other users in the module: the same
// code either way. A template whose address is taken is emitted, launched in sight or not.
// REQUIRES: nvcc, long
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 | FileCheck %s
__shared__ float tile[32];

__global__ void first(float *p) {
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = tile[31 - threadIdx.x];
}
__global__ void second(float *p) {
  tile[threadIdx.x] = p[threadIdx.x] + 1;
  __syncthreads();
  p[threadIdx.x] = tile[(threadIdx.x + 1) % 32];
}

template <class T, int N> __global__ void filled(T *p) { p[threadIdx.x] = N; }

using Kernel = void (*)(float *);
Kernel choose(int n) { return n == 1 ? filled<float, 1> : n == 2 ? filled<float, 2> : first; }

// CHECK-DAG: first: slice, proven
// CHECK-DAG: second: slice, proven
// CHECK-DAG: filled<float, 1>: slice, proven
// CHECK-DAG: filled<float, 2>: slice, proven
// CHECK: 3 kernels, 4 specializations, 4 proven
