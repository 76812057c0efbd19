// What a declaration's text is: all of an #if that it has a part of, and all of an initialiser in parentheses.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 | FileCheck %s
#define ON_DEVICE 1

constexpr unsigned kCount(64);
constexpr unsigned kHalf(kCount / 2), kQuarter{kCount / 4};

#if ON_DEVICE
__constant__
#endif
float table[] = {
    1.0f,
#ifdef LONG_TABLE
    3.0f,
#endif
    2.0f};

#ifdef ON_DEVICE
__device__
#endif
inline float scaled(float x
#ifndef ON_DEVICE
    , int host
#endif
#if ON_DEVICE
    , float factor) {
#else
    ) {
  const float factor = host;
#endif
  return x * factor;
}

__global__ void k(float *p) { p[threadIdx.x % kHalf] = scaled(table[1], kQuarter); }

// CHECK: k: slice, proven
