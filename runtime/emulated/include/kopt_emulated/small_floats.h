// SPDX-License-Identifier: Apache-2.0
// The operators and named intrinsics that half and bfloat16 share. Each type provides its conversions; an operation is
// computed in float, with enough precision, and rounded once.
#pragma once

#include "device.h"

// SCALAR is the type, PAIR its vector of two. The intrinsics of both types have the same names.
#define KOPT_SMALL_FLOAT_ARITHMETIC(SCALAR, PAIR, TO_FLOAT, FROM_FLOAT)                            \
  KOPT_HD SCALAR operator+(const SCALAR &a, const SCALAR &b) { return FROM_FLOAT(TO_FLOAT(a) + TO_FLOAT(b)); } \
  KOPT_HD SCALAR operator-(const SCALAR &a, const SCALAR &b) { return FROM_FLOAT(TO_FLOAT(a) - TO_FLOAT(b)); } \
  KOPT_HD SCALAR operator*(const SCALAR &a, const SCALAR &b) { return FROM_FLOAT(TO_FLOAT(a) * TO_FLOAT(b)); } \
  KOPT_HD SCALAR operator/(const SCALAR &a, const SCALAR &b) { return FROM_FLOAT(TO_FLOAT(a) / TO_FLOAT(b)); } \
  KOPT_HD SCALAR operator+(const SCALAR &a) { return a; }                                          \
  KOPT_HD SCALAR operator-(const SCALAR &a) { return FROM_FLOAT(-TO_FLOAT(a)); }                   \
  KOPT_HD SCALAR &operator+=(SCALAR &a, const SCALAR &b) { return a = a + b; }                     \
  KOPT_HD SCALAR &operator-=(SCALAR &a, const SCALAR &b) { return a = a - b; }                     \
  KOPT_HD SCALAR &operator*=(SCALAR &a, const SCALAR &b) { return a = a * b; }                     \
  KOPT_HD SCALAR &operator/=(SCALAR &a, const SCALAR &b) { return a = a / b; }                     \
  KOPT_HD SCALAR &operator++(SCALAR &a) { return a = a + FROM_FLOAT(1.0f); }                       \
  KOPT_HD SCALAR &operator--(SCALAR &a) { return a = a - FROM_FLOAT(1.0f); }                       \
  KOPT_HD bool operator==(const SCALAR &a, const SCALAR &b) { return TO_FLOAT(a) == TO_FLOAT(b); } \
  KOPT_HD bool operator!=(const SCALAR &a, const SCALAR &b) { return TO_FLOAT(a) != TO_FLOAT(b); } \
  KOPT_HD bool operator<(const SCALAR &a, const SCALAR &b) { return TO_FLOAT(a) < TO_FLOAT(b); }   \
  KOPT_HD bool operator>(const SCALAR &a, const SCALAR &b) { return TO_FLOAT(a) > TO_FLOAT(b); }   \
  KOPT_HD bool operator<=(const SCALAR &a, const SCALAR &b) { return TO_FLOAT(a) <= TO_FLOAT(b); } \
  KOPT_HD bool operator>=(const SCALAR &a, const SCALAR &b) { return TO_FLOAT(a) >= TO_FLOAT(b); } \
  KOPT_HD PAIR operator+(const PAIR &a, const PAIR &b) { return PAIR(a.x + b.x, a.y + b.y); }      \
  KOPT_HD PAIR operator-(const PAIR &a, const PAIR &b) { return PAIR(a.x - b.x, a.y - b.y); }      \
  KOPT_HD PAIR operator*(const PAIR &a, const PAIR &b) { return PAIR(a.x * b.x, a.y * b.y); }      \
  KOPT_HD PAIR operator/(const PAIR &a, const PAIR &b) { return PAIR(a.x / b.x, a.y / b.y); }      \
  KOPT_HD PAIR operator-(const PAIR &a) { return PAIR(-a.x, -a.y); }                               \
  KOPT_HD PAIR &operator+=(PAIR &a, const PAIR &b) { return a = a + b; }                           \
  KOPT_HD PAIR &operator-=(PAIR &a, const PAIR &b) { return a = a - b; }                           \
  KOPT_HD PAIR &operator*=(PAIR &a, const PAIR &b) { return a = a * b; }                           \
  KOPT_HD PAIR &operator/=(PAIR &a, const PAIR &b) { return a = a / b; }                           \
  KOPT_HD bool operator==(const PAIR &a, const PAIR &b) { return a.x == b.x && a.y == b.y; }       \
  KOPT_HD bool operator!=(const PAIR &a, const PAIR &b) { return !(a == b); }

#define KOPT_SMALL_FLOAT_BINARY(SCALAR, PAIR, NAME, EXPRESSION)                                    \
  KOPT_HD SCALAR NAME(SCALAR a, SCALAR b) { return EXPRESSION; }                                   \
  KOPT_HD PAIR NAME##2(PAIR p, PAIR q) { return PAIR(NAME(p.x, q.x), NAME(p.y, q.y)); }
#define KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, NAME, H2NAME, EXPRESSION)                             \
  KOPT_HD SCALAR NAME(SCALAR a) { return EXPRESSION; }                                             \
  KOPT_HD PAIR H2NAME(PAIR p) { return PAIR(NAME(p.x), NAME(p.y)); }
#define KOPT_SMALL_FLOAT_COMPARE(SCALAR, PAIR, NAME, OPERATOR, TO_FLOAT, FROM_FLOAT)               \
  KOPT_HD bool __h##NAME(SCALAR a, SCALAR b) { return TO_FLOAT(a) OPERATOR TO_FLOAT(b); }          \
  KOPT_HD PAIR __h##NAME##2(PAIR p, PAIR q) {                                                      \
    return PAIR(FROM_FLOAT(__h##NAME(p.x, q.x) ? 1.0f : 0.0f), FROM_FLOAT(__h##NAME(p.y, q.y) ? 1.0f : 0.0f)); \
  }                                                                                                \
  KOPT_HD bool __hb##NAME##2(PAIR p, PAIR q) { return __h##NAME(p.x, q.x) && __h##NAME(p.y, q.y); }

#define KOPT_SMALL_FLOAT_INTRINSICS(SCALAR, PAIR, TO_FLOAT, FROM_FLOAT)                            \
  KOPT_SMALL_FLOAT_BINARY(SCALAR, PAIR, __hadd, a + b)                                             \
  KOPT_SMALL_FLOAT_BINARY(SCALAR, PAIR, __hsub, a - b)                                             \
  KOPT_SMALL_FLOAT_BINARY(SCALAR, PAIR, __hmul, a * b)                                             \
  KOPT_HD SCALAR __hdiv(SCALAR a, SCALAR b) { return a / b; }                                      \
  KOPT_HD PAIR __h2div(PAIR a, PAIR b) { return a / b; }                                           \
  KOPT_HD SCALAR __hneg(SCALAR a) { return -a; }                                                   \
  KOPT_HD PAIR __hneg2(PAIR a) { return -a; }                                                      \
  KOPT_HD SCALAR __habs(SCALAR a) { return FROM_FLOAT(__builtin_fabsf(TO_FLOAT(a))); }             \
  KOPT_HD PAIR __habs2(PAIR a) { return PAIR(__habs(a.x), __habs(a.y)); }                          \
  KOPT_HD bool __hisnan(SCALAR a) { return TO_FLOAT(a) != TO_FLOAT(a); }                           \
  KOPT_HD int __hisinf(SCALAR a) {                                                                 \
    return __builtin_isinf(TO_FLOAT(a)) ? (TO_FLOAT(a) < 0 ? -1 : 1) : 0;                          \
  }                                                                                                \
  KOPT_HD SCALAR __hfma(SCALAR a, SCALAR b, SCALAR c) {                                            \
    return FROM_FLOAT(kopt_emulated::fusedOnce(TO_FLOAT(a), TO_FLOAT(b), TO_FLOAT(c)));            \
  }                                                                                                \
  KOPT_HD PAIR __hfma2(PAIR a, PAIR b, PAIR c) {                                                   \
    return PAIR(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                     \
  }                                                                                                \
  KOPT_SMALL_FLOAT_BINARY(SCALAR, PAIR, __hmin,                                                    \
                          FROM_FLOAT(__builtin_fminf(TO_FLOAT(a), TO_FLOAT(b))))                   \
  KOPT_SMALL_FLOAT_BINARY(SCALAR, PAIR, __hmax,                                                    \
                          FROM_FLOAT(__builtin_fmaxf(TO_FLOAT(a), TO_FLOAT(b))))                   \
  KOPT_SMALL_FLOAT_COMPARE(SCALAR, PAIR, eq, ==, TO_FLOAT, FROM_FLOAT)                             \
  KOPT_SMALL_FLOAT_COMPARE(SCALAR, PAIR, ne, !=, TO_FLOAT, FROM_FLOAT)                             \
  KOPT_SMALL_FLOAT_COMPARE(SCALAR, PAIR, lt, <, TO_FLOAT, FROM_FLOAT)                              \
  KOPT_SMALL_FLOAT_COMPARE(SCALAR, PAIR, le, <=, TO_FLOAT, FROM_FLOAT)                             \
  KOPT_SMALL_FLOAT_COMPARE(SCALAR, PAIR, gt, >, TO_FLOAT, FROM_FLOAT)                              \
  KOPT_SMALL_FLOAT_COMPARE(SCALAR, PAIR, ge, >=, TO_FLOAT, FROM_FLOAT)                             \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hsqrt, h2sqrt, FROM_FLOAT(__builtin_sqrtf(TO_FLOAT(a))))    \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hrsqrt, h2rsqrt, FROM_FLOAT((float)(1.0 / __builtin_sqrt((double)TO_FLOAT(a))))) \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hrcp, h2rcp, FROM_FLOAT(1.0f / TO_FLOAT(a)))                \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hexp, h2exp, FROM_FLOAT(::expf(TO_FLOAT(a))))               \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hexp2, h2exp2, FROM_FLOAT(::exp2f(TO_FLOAT(a))))            \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hlog, h2log, FROM_FLOAT(::logf(TO_FLOAT(a))))               \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hlog2, h2log2, FROM_FLOAT(::log2f(TO_FLOAT(a))))            \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hsin, h2sin, FROM_FLOAT(::sinf(TO_FLOAT(a))))               \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hcos, h2cos, FROM_FLOAT(::cosf(TO_FLOAT(a))))               \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, htanh, h2tanh, FROM_FLOAT(::tanhf(TO_FLOAT(a))))            \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hfloor, h2floor, FROM_FLOAT(__builtin_floorf(TO_FLOAT(a)))) \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hceil, h2ceil, FROM_FLOAT(__builtin_ceilf(TO_FLOAT(a))))    \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, hrint, h2rint, FROM_FLOAT(__builtin_rintf(TO_FLOAT(a))))    \
  KOPT_SMALL_FLOAT_UNARY(SCALAR, PAIR, htrunc, h2trunc, FROM_FLOAT(__builtin_truncf(TO_FLOAT(a)))) \
  KOPT_SHUFFLES(SCALAR)                                                                            \
  KOPT_SHUFFLES(PAIR)                                                                              \
  KOPT_HINTED(SCALAR)                                                                              \
  KOPT_HINTED(PAIR)                                                                                \
  KOPT_D SCALAR atomicAdd(SCALAR *address, SCALAR value) {                                         \
    kopt_emulated_atomic((void *)address, sizeof(SCALAR));                                         \
    unsigned short *bits = (unsigned short *)address;                                              \
    SCALAR old = kopt_emulated::fromBits<SCALAR>(__builtin_nontemporal_load(bits));                \
    __builtin_nontemporal_store((unsigned short)kopt_emulated::toBits(old + value), bits);         \
    return old;                                                                                    \
  }                                                                                                \
  KOPT_D PAIR atomicAdd(PAIR *address, PAIR value) {                                               \
    kopt_emulated_atomic((void *)address, sizeof(PAIR));                                           \
    unsigned *bits = (unsigned *)address;                                                          \
    PAIR old = kopt_emulated::fromBits<PAIR>(__builtin_nontemporal_load(bits));                    \
    __builtin_nontemporal_store((unsigned)kopt_emulated::toBits(old + value), bits);               \
    return old;                                                                                    \
  }

namespace kopt_emulated {
/// a * b + c, such that a later rounding to at most 11 bits gives the correctly rounded result: the product is exact in
/// double, and the rounding error of the sum is kept as a sticky last bit (rounding to odd).
KOPT_HD double fusedOnce(float a, float b, float c) {
  double product = (double)a * (double)b, addend = (double)c, sum = product + addend;
  double t = sum - product, error = (product - (sum - t)) + (addend - t);
  if (error != 0 && error == error) {
    long long bits = __builtin_bit_cast(long long, sum);
    if ((bits & 1) == 0)
      bits += (error > 0) == (sum > 0) ? 1 : -1;
    sum = __builtin_bit_cast(double, bits);
  }
  return sum;
}
} // namespace kopt_emulated

/// Conversions to integers in the four directions, as float's. `name` is the type's in their names: __half, __bfloat16.
#define KOPT_SMALL_FLOAT_TO_INTEGER(type, name, toFloat, integer, result)                                              \
  KOPT_D result name##2##integer##_rn(type a) { return __float2##integer##_rn(toFloat(a)); }                           \
  KOPT_D result name##2##integer##_rz(type a) { return __float2##integer##_rz(toFloat(a)); }                           \
  KOPT_D result name##2##integer##_rd(type a) { return __float2##integer##_rd(toFloat(a)); }                           \
  KOPT_D result name##2##integer##_ru(type a) { return __float2##integer##_ru(toFloat(a)); }
#define KOPT_SMALL_FLOAT_TO_INTEGERS(type, name, toFloat)                                                              \
  KOPT_SMALL_FLOAT_TO_INTEGER(type, name, toFloat, int, int)                                                           \
  KOPT_SMALL_FLOAT_TO_INTEGER(type, name, toFloat, uint, unsigned)                                                     \
  KOPT_SMALL_FLOAT_TO_INTEGER(type, name, toFloat, ll, long long)                                                      \
  KOPT_SMALL_FLOAT_TO_INTEGER(type, name, toFloat, ull, unsigned long long)

/// NAME as in the functions' names: half, bfloat16.
#define KOPT_SMALL_FLOAT_CONVERSIONS(SCALAR, NAME)                                                                     \
  KOPT_HD float __##NAME##2float(SCALAR a) { return (float)a; }                                                        \
  KOPT_HD SCALAR __float2##NAME(float a) { return SCALAR(a); }                                                         \
  KOPT_HD SCALAR __float2##NAME##_rn(float a) { return SCALAR(a); }                                                    \
  KOPT_HD SCALAR __double2##NAME(double a) { return SCALAR(a); }                                                       \
  KOPT_HD unsigned short __##NAME##_as_ushort(SCALAR a) { return __builtin_bit_cast(unsigned short, a); }              \
  KOPT_HD SCALAR __ushort_as_##NAME(unsigned short a) { return __builtin_bit_cast(SCALAR, a); }
#define KOPT_SMALL_FLOAT_PAIRS(SCALAR, PAIR, NAME)                                                                     \
  KOPT_HD PAIR __floats2##NAME##2_rn(float a, float b) { return PAIR(SCALAR(a), SCALAR(b)); }                          \
  KOPT_HD PAIR __float2##NAME##2_rn(float a) { return PAIR(SCALAR(a), SCALAR(a)); }                                    \
  KOPT_HD PAIR __float22##NAME##2_rn(float2 a) { return PAIR(SCALAR(a.x), SCALAR(a.y)); }                              \
  KOPT_HD float2 __##NAME##22float2(PAIR a) { return float2{(float)a.x, (float)a.y}; }                                 \
  KOPT_HD PAIR __##NAME##2##NAME##2(SCALAR a) { return PAIR(a, a); }                                                   \
  KOPT_HD PAIR __halves2##NAME##2(SCALAR a, SCALAR b) { return PAIR(a, b); }                                           \
  KOPT_HD PAIR make_##NAME##2(SCALAR a, SCALAR b) { return PAIR(a, b); }                                               \
  KOPT_HD SCALAR __low2##NAME(PAIR a) { return a.x; }                                                                  \
  KOPT_HD SCALAR __high2##NAME(PAIR a) { return a.y; }                                                                 \
  KOPT_HD float __low2float(PAIR a) { return (float)a.x; }                                                             \
  KOPT_HD float __high2float(PAIR a) { return (float)a.y; }
