// A macro that host and device define differently keeps both definitions, each where it holds.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 | FileCheck %s
#if defined(__CUDA_ARCH__)
#define UNROLL _Pragma("unroll")
#define SPACE
#else
#define UNROLL
#define SPACE std
#endif
#include <cmath>

__host__ __device__ inline float clean(float x) { return SPACE::isnan(x) ? 0.0f : x; }

__global__ void k(float *p) {
  UNROLL
  for (int i = 0; i < 4; ++i)
    p[i] = clean(p[i]);
}

// CHECK: k: slice, proven
