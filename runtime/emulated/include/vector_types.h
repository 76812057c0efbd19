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

typedef double4 double4_16a;
typedef long4 long4_16a;
typedef ulong4 ulong4_16a;
typedef longlong4 longlong4_16a;
typedef ulonglong4 ulonglong4_16a;
struct __attribute__((aligned(32))) double4_32a { double x, y, z, w; };
struct __attribute__((aligned(32))) longlong4_32a { long long x, y, z, w; };
struct __attribute__((aligned(32))) ulonglong4_32a { unsigned long long x, y, z, w; };

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
