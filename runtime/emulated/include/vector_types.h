// SPDX-License-Identifier: Apache-2.0
// CUDA's built-in vector types and dim3, with the sizes and alignments of the CUDA C++ programming guide.
#pragma once
#define __VECTOR_TYPES_H__

#include "kopt_emulated/qualifiers.h"

#define KOPT_VECTOR1(NAME, T) struct NAME##1 { T x; };
#define KOPT_VECTOR2(NAME, T, ALIGN) struct __attribute__((aligned(ALIGN))) NAME##2 { T x, y; };
#define KOPT_VECTOR3(NAME, T) struct NAME##3 { T x, y, z; };
#define KOPT_VECTOR4(NAME, T, ALIGN) struct __attribute__((aligned(ALIGN))) NAME##4 { T x, y, z, w; };
#define KOPT_VECTORS(NAME, T, ALIGN2, ALIGN4)                                                      \
  KOPT_VECTOR1(NAME, T)                                                                            \
  KOPT_VECTOR2(NAME, T, ALIGN2)                                                                    \
  KOPT_VECTOR3(NAME, T)                                                                            \
  KOPT_VECTOR4(NAME, T, ALIGN4)

KOPT_VECTORS(char, signed char, 2, 4)
KOPT_VECTORS(uchar, unsigned char, 2, 4)
KOPT_VECTORS(short, short, 4, 8)
KOPT_VECTORS(ushort, unsigned short, 4, 8)
KOPT_VECTORS(int, int, 8, 16)
KOPT_VECTORS(uint, unsigned int, 8, 16)
KOPT_VECTORS(long, long, 16, 16)
KOPT_VECTORS(ulong, unsigned long, 16, 16)
KOPT_VECTORS(longlong, long long, 16, 16)
KOPT_VECTORS(ulonglong, unsigned long long, 16, 16)
KOPT_VECTORS(float, float, 8, 16)
KOPT_VECTORS(double, double, 16, 16)

#undef KOPT_VECTORS
#undef KOPT_VECTOR1
#undef KOPT_VECTOR2
#undef KOPT_VECTOR3
#undef KOPT_VECTOR4

// Types of their own, as in CUDA 13: libraries specialize templates for each.
#define KOPT_ALIGNED_VECTOR4(NAME, T)                                                              \
  struct __attribute__((aligned(16))) NAME##4_16a { T x, y, z, w; };                               \
  struct __attribute__((aligned(32))) NAME##4_32a { T x, y, z, w; };
KOPT_ALIGNED_VECTOR4(double, double)
KOPT_ALIGNED_VECTOR4(long, long)
KOPT_ALIGNED_VECTOR4(ulong, unsigned long)
KOPT_ALIGNED_VECTOR4(longlong, long long)
KOPT_ALIGNED_VECTOR4(ulonglong, unsigned long long)
#undef KOPT_ALIGNED_VECTOR4

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
