// nvcc's word: the slices compile to what the file compiles to.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 | FileCheck %s
// RUN: cd %t/rotate_float_3 && sh build.sh && test -x harness
#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>
#include <vector>

namespace {
__device__ float hidden(float x) { return sqrtf(x); }
} // namespace

template <typename T, int N> __global__ void rotate(T *p, int n) {
  extern __shared__ unsigned char raw[];
  T *tile = reinterpret_cast<T *>(raw);
  tile[threadIdx.x] = static_cast<T>(hidden(static_cast<float>(p[threadIdx.x])));
  __syncthreads();
  p[threadIdx.x] = tile[(threadIdx.x + N) % n];
  if (threadIdx.x == 0)
    printf("%d\n", n);
}
__global__ void convert(const float *in, half *out) { out[threadIdx.x] = __float2half(in[threadIdx.x]); }
static __global__ void local(float *p) { p[threadIdx.x] = hidden(1.0f); }

int main() {
  std::vector<int> host(3);
  rotate<float, 3><<<1, 32, 128>>>((float *)nullptr, 32);
  convert<<<1, 32>>>(nullptr, nullptr);
  local<<<1, 32>>>(nullptr);
}

// CHECK-DAG: rotate<float, 3>: slice, proven
// CHECK-DAG: convert: slice, proven
// CHECK-DAG: local: slice, proven
// CHECK: 3 kernels, 3 specializations, 3 proven
