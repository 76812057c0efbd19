// SPDX-License-Identifier: Apache-2.0
// make_float4() and similar functions.
#pragma once
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define KOPT_MAKE(NAME, T)                                                                         \
  KOPT_HD constexpr NAME##1 make_##NAME##1(T x) { return NAME##1{x}; }                             \
  KOPT_HD constexpr NAME##2 make_##NAME##2(T x, T y) { return NAME##2{x, y}; }                     \
  KOPT_HD constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3{x, y, z}; }             \
  KOPT_HD constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4{x, y, z, w}; }

KOPT_MAKE(char, signed char)
KOPT_MAKE(uchar, unsigned char)
KOPT_MAKE(short, short)
KOPT_MAKE(ushort, unsigned short)
KOPT_MAKE(int, int)
KOPT_MAKE(uint, unsigned int)
KOPT_MAKE(long, long)
KOPT_MAKE(ulong, unsigned long)
KOPT_MAKE(longlong, long long)
KOPT_MAKE(ulonglong, unsigned long long)
KOPT_MAKE(float, float)
KOPT_MAKE(double, double)
#undef KOPT_MAKE

// The names that CUDA 13 has for vectors of four 8-byte members.
#define KOPT_MAKE_ALIGNED(NAME, T)                                                                 \
  KOPT_HD constexpr NAME make_##NAME(T x, T y, T z, T w) { return NAME{x, y, z, w}; }
KOPT_MAKE_ALIGNED(double4_16a, double)
KOPT_MAKE_ALIGNED(double4_32a, double)
KOPT_MAKE_ALIGNED(long4_16a, long)
KOPT_MAKE_ALIGNED(long4_32a, long)
KOPT_MAKE_ALIGNED(ulong4_16a, unsigned long)
KOPT_MAKE_ALIGNED(ulong4_32a, unsigned long)
KOPT_MAKE_ALIGNED(longlong4_16a, long long)
KOPT_MAKE_ALIGNED(longlong4_32a, long long)
KOPT_MAKE_ALIGNED(ulonglong4_16a, unsigned long long)
KOPT_MAKE_ALIGNED(ulonglong4_32a, unsigned long long)
#undef KOPT_MAKE_ALIGNED
