// SPDX-License-Identifier: Apache-2.0
// bfloat16 and its pair: the upper half of a float, rounded to nearest, ties to even.
#pragma once
#define __CUDA_BF16_H__

#include "kopt_emulated/small_floats.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};

namespace kopt_emulated {
KOPT_HD constexpr unsigned short bfloatBits(float x) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
/// Converts a double to float for a later conversion to bfloat16. Rounds to odd, so that the two roundings give the
/// result of one.
KOPT_HD constexpr float oddFloat(double x) {
  float nearest = (float)x;
  double error = x - (double)nearest;
  unsigned bits = __builtin_bit_cast(unsigned, nearest);
  if (error != 0 && error == error && (bits & 1) == 0 && (bits & 0x7f800000u) != 0x7f800000u)
    bits += (error > 0) == (x > 0) ? 1u : 0xffffffffu;
  return __builtin_bit_cast(float, bits);
}
} // namespace kopt_emulated

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short bits;

  __nv_bfloat16() = default;
  __host__ __device__ constexpr __nv_bfloat16(float x) : bits(kopt_emulated::bfloatBits(x)) {}
  __host__ __device__ constexpr __nv_bfloat16(double x)
      : bits(kopt_emulated::bfloatBits(kopt_emulated::oddFloat(x))) {}
  __host__ __device__ constexpr __nv_bfloat16(int x) : __nv_bfloat16((double)x) {}
  __host__ __device__ constexpr __nv_bfloat16(unsigned x) : __nv_bfloat16((double)x) {}
  __host__ __device__ constexpr __nv_bfloat16(long x) : __nv_bfloat16((double)x) {}
  __host__ __device__ constexpr __nv_bfloat16(unsigned long x) : __nv_bfloat16((double)x) {}
  __host__ __device__ constexpr __nv_bfloat16(long long x) : __nv_bfloat16((double)x) {}
  __host__ __device__ constexpr __nv_bfloat16(unsigned long long x) : __nv_bfloat16((double)x) {}
  __host__ __device__ constexpr __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
  __host__ __device__ constexpr operator float() const {
    return __builtin_bit_cast(float, (unsigned)bits << 16);
  }
  __host__ __device__ constexpr operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{bits}; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  __host__ __device__ constexpr __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
};
typedef __nv_bfloat162 nv_bfloat162;

KOPT_SMALL_FLOAT_CONVERSIONS(__nv_bfloat16, bfloat16)

namespace kopt_emulated {
KOPT_HD __nv_bfloat16 bfloatFrom(float a) { return __nv_bfloat16(a); }
KOPT_HD __nv_bfloat16 bfloatFrom(double a) { return __nv_bfloat16(a); }
} // namespace kopt_emulated
KOPT_SMALL_FLOAT_ARITHMETIC(__nv_bfloat16, __nv_bfloat162, __bfloat162float, kopt_emulated::bfloatFrom)
KOPT_SMALL_FLOAT_INTRINSICS(__nv_bfloat16, __nv_bfloat162, __bfloat162float, kopt_emulated::bfloatFrom)

KOPT_SMALL_FLOAT_PAIRS(__nv_bfloat16, __nv_bfloat162, bfloat16)
KOPT_SMALL_FLOAT_TO_INTEGERS(__nv_bfloat16, __bfloat16, __bfloat162float)
