// SPDX-License-Identifier: Apache-2.0
// Integer intrinsics, type conversions with a rounding mode, and reinterpretations of bits.
#pragma once

#include "math.h"

KOPT_D int __popc(unsigned x) { return __builtin_popcount(x); }
KOPT_D int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KOPT_D int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
KOPT_D int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
KOPT_D int __ffs(int x) { return __builtin_ffs(x); }
KOPT_D int __ffsll(long long x) { return __builtin_ffsll(x); }
KOPT_D unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
KOPT_D unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KOPT_D unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long long bytes = ((unsigned long long)y << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= (unsigned)((bytes >> (8 * ((selector >> (4 * i)) & 7))) & 0xff) << (8 * i);
  return result;
}
KOPT_D int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
KOPT_D unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a * b) >> 32);
}
KOPT_D long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
KOPT_D unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
KOPT_D int __mul24(int a, int b) { return (int)((unsigned)((a << 8) >> 8) * (unsigned)((b << 8) >> 8)); }
KOPT_D unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
KOPT_D unsigned __sad(int a, int b, unsigned c) {
  return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
KOPT_D unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
KOPT_D int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
KOPT_D int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
KOPT_D unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
KOPT_D unsigned __urhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}
KOPT_D unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)(((((unsigned long long)hi << 32) | lo) << (shift & 31)) >> 32);
}
KOPT_D unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)((((unsigned long long)hi << 32) | lo) >> (shift & 31));
}
KOPT_D unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
KOPT_D unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}
KOPT_D int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c += (int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i));
  return c;
}
KOPT_D unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i)
    c += ((a >> (8 * i)) & 0xff) * ((b >> (8 * i)) & 0xff);
  return c;
}
KOPT_D int __dp2a_lo(int a, int b, int c) {
  return c + (int)(short)a * (int)(signed char)b + (int)(short)(a >> 16) * (int)(signed char)(b >> 8);
}
KOPT_D int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
KOPT_D unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);
}
KOPT_D unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
KOPT_D int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
KOPT_D unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
KOPT_D int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
KOPT_D int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
KOPT_D unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return c + (unsigned)a.x * b.x + (unsigned)a.y * b.y; }
KOPT_D unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return c + (unsigned)a.x * b.z + (unsigned)a.y * b.w; }
/// The lane of the `offset`-th set bit of `mask` from `base` on, upwards or, if negative, downwards; all ones if there is none.
KOPT_D unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0)
    return base < 32 && (mask >> base & 1u) ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  for (int i = (int)base, left = offset * step; i >= 0 && i < 32; i += step)
    if ((mask >> i & 1u) && --left == 0)
      return (unsigned)i;
  return 0xffffffffu;
}

KOPT_D int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KOPT_D unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KOPT_D float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KOPT_D float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
KOPT_D long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KOPT_D double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
KOPT_D int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
KOPT_D int __double2loint(double x) { return (int)__double_as_longlong(x); }
KOPT_D double __hiloint2double(int hi, int lo) {
  return __longlong_as_double(((long long)hi << 32) | (unsigned)lo);
}

namespace kopt_emulated {
/// Rounds `x` to a floating-point number in the direction of the mode, also if a double cannot hold `x` exactly.
template <class F, class I> KOPT_D F fromInteger(I x, int mode) {
  F nearest = (F)x;
  __int128 error = (__int128)x - (__int128)nearest;
  return directed(nearest, (F)(error > 0 ? 1 : error < 0 ? -1 : 0), mode);
}
} // namespace kopt_emulated

// clang_plugin/emulate makes the conversions behave as on the hardware.
#define KOPT_TO_INTEGERS(FROM, F, SUFFIX)                                                          \
  KOPT_TO_INTEGER(FROM, F, SUFFIX, int, int)                                                       \
  KOPT_TO_INTEGER(FROM, F, SUFFIX, uint, unsigned)                                                 \
  KOPT_TO_INTEGER(FROM, F, SUFFIX, ll, long long)                                                  \
  KOPT_TO_INTEGER(FROM, F, SUFFIX, ull, unsigned long long)
#define KOPT_TO_INTEGER(FROM, F, SUFFIX, TO, I)                                                    \
  KOPT_D I __##FROM##2##TO##_rn(F x) { return (I)__builtin_rint##SUFFIX(x); }                      \
  KOPT_D I __##FROM##2##TO##_rz(F x) { return (I)x; }                                              \
  KOPT_D I __##FROM##2##TO##_ru(F x) { return (I)__builtin_ceil##SUFFIX(x); }                      \
  KOPT_D I __##FROM##2##TO##_rd(F x) { return (I)__builtin_floor##SUFFIX(x); }
KOPT_TO_INTEGERS(float, float, f)
KOPT_TO_INTEGERS(double, double, )
#undef KOPT_TO_INTEGER
#undef KOPT_TO_INTEGERS

#define KOPT_FROM_INTEGER(FROM, I, TO, F)                                                          \
  KOPT_D F __##FROM##2##TO##_rn(I x) { return (F)x; }                                              \
  KOPT_D F __##FROM##2##TO##_rz(I x) { return kopt_emulated::fromInteger<F>(x, 1); }               \
  KOPT_D F __##FROM##2##TO##_ru(I x) { return kopt_emulated::fromInteger<F>(x, 2); }               \
  KOPT_D F __##FROM##2##TO##_rd(I x) { return kopt_emulated::fromInteger<F>(x, 3); }
KOPT_FROM_INTEGER(int, int, float, float)
KOPT_FROM_INTEGER(uint, unsigned, float, float)
KOPT_FROM_INTEGER(ll, long long, float, float)
KOPT_FROM_INTEGER(ull, unsigned long long, float, float)
KOPT_FROM_INTEGER(ll, long long, double, double)
KOPT_FROM_INTEGER(ull, unsigned long long, double, double)
#undef KOPT_FROM_INTEGER
KOPT_D double __int2double_rn(int x) { return x; }
KOPT_D double __uint2double_rn(unsigned x) { return x; }
KOPT_D float __double2float_rn(double x) { return (float)x; }
KOPT_D float __double2float_rz(double x) {
  return kopt_emulated::directed((float)x, (float)(x - (double)(float)x), 1);
}
KOPT_D float __double2float_ru(double x) {
  return kopt_emulated::directed((float)x, (float)(x - (double)(float)x), 2);
}
KOPT_D float __double2float_rd(double x) {
  return kopt_emulated::directed((float)x, (float)(x - (double)(float)x), 3);
}
