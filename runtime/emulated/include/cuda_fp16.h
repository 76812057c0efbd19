// SPDX-License-Identifier: Apache-2.0
// half and half2. Stored and rounded as IEEE binary16 by the compiler's own _Float16.
#pragma once
#define __CUDA_FP16_H__

#include "kopt_emulated/small_floats.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __half {
  _Float16 value;

  __half() = default;
  __host__ __device__ constexpr __half(float x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(double x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(int x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(unsigned x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(long x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(unsigned long x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(long long x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(unsigned long long x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(short x) : value((_Float16)x) {}
  __host__ __device__ constexpr __half(unsigned short x) : value((_Float16)x) {}
  __host__ __device__ __half(__half_raw raw) : value(__builtin_bit_cast(_Float16, raw.x)) {}
  __host__ __device__ constexpr operator float() const { return (float)value; }
  __host__ __device__ operator __half_raw() const {
    return __half_raw{__builtin_bit_cast(unsigned short, value)};
  }
};
typedef __half half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;

  __half2() = default;
  __host__ __device__ constexpr __half2(const __half &a, const __half &b) : x(a), y(b) {}
  __host__ __device__ __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
};
typedef __half2 half2;

KOPT_SMALL_FLOAT_CONVERSIONS(__half, half)

namespace kopt_emulated {
KOPT_HD __half halfFrom(float a) { return __half(a); }
KOPT_HD __half halfFrom(double a) { return __half(a); }
} // namespace kopt_emulated
KOPT_SMALL_FLOAT_ARITHMETIC(__half, __half2, __half2float, kopt_emulated::halfFrom)
KOPT_SMALL_FLOAT_INTRINSICS(__half, __half2, __half2float, kopt_emulated::halfFrom)

KOPT_SMALL_FLOAT_PAIRS(__half, __half2, half)
KOPT_HD __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
KOPT_HD __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
KOPT_HD __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
KOPT_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KOPT_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
KOPT_HD short __half_as_short(__half a) { return __builtin_bit_cast(short, a.value); }
KOPT_HD __half __short_as_half(short a) { return __half(__half_raw{(unsigned short)a}); }
KOPT_HD __half __int2half_rn(int a) { return __half(a); }
KOPT_HD __half __uint2half_rn(unsigned a) { return __half(a); }
KOPT_SMALL_FLOAT_TO_INTEGERS(__half, __half, __half2float)
