// Shared memory as nvcc takes it and Clang does not: alignas behind __shared__, and objects that have constructors.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 -arch=sm_90 2>&1 | FileCheck %s --implicit-check-not=note:
#include <cooperative_groups.h>
#include <cuda/barrier>

// CHECK: sum: slice, proven
__global__ void sum(const float *in, float *out, int n) {
  __shared__ alignas(16) float tile[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  tile[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
  __syncthreads();
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

void run(const float *in, float *out, int n) { sum<<<1, 256>>>(in, out, n); }
// CHECK: 1 kernels, 1 specializations, 1 proven
