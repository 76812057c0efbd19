// SPDX-License-Identifier: Apache-2.0
// Mathematical functions and intrinsics that the C library lacks.
#pragma once

#include "system_headers.h"

KOPT_HD float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
KOPT_HD double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
KOPT_HD float rsqrt(float x) { return rsqrtf(x); }
KOPT_HD float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KOPT_HD double rcbrt(double x) { return 1.0 / ::cbrt(x); }
KOPT_HD float fdividef(float a, float b) { return a / b; }
KOPT_HD float sinpif(float x) { return (float)::sin(3.14159265358979323846 * (double)x); }
KOPT_HD float cospif(float x) { return (float)::cos(3.14159265358979323846 * (double)x); }
KOPT_HD double sinpi(double x) { return (double)sinl(3.14159265358979323846264338327950288L * x); }
KOPT_HD double cospi(double x) { return (double)cosl(3.14159265358979323846264338327950288L * x); }
KOPT_HD void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
KOPT_HD void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
KOPT_HD float rhypotf(float x, float y) { return 1.0f / ::hypotf(x, y); }
KOPT_HD double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }
KOPT_HD float norm3df(float a, float b, float c) { return ::hypotf(::hypotf(a, b), c); }
KOPT_HD double norm3d(double a, double b, double c) { return ::hypot(::hypot(a, b), c); }
KOPT_HD float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
KOPT_HD float norm4df(float a, float b, float c, float d) { return ::hypotf(norm3df(a, b, c), d); }
KOPT_HD double norm4d(double a, double b, double c, double d) { return ::hypot(norm3d(a, b, c), d); }
KOPT_HD float normcdff(float x) { return 0.5f * ::erfcf(-x * 0.70710678118654752440f); }
KOPT_HD double normcdf(double x) { return 0.5 * ::erfc(-x * 0.70710678118654752440); }
KOPT_HD float erfcxf(float x) { return (float)(::exp((double)x * x) * ::erfc((double)x)); }
KOPT_HD float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// The approximate intrinsics, computed in the steps that nvcc generates, so that they have the same errors and fail
// where a GPU's do. Each step is accurate. __fdividef() multiplies by the reciprocal of the divisor, which becomes 0
// where it would be denormal.
KOPT_D float __fdividef(float a, float b) {
  float size = __builtin_fabsf(b);
  if (size > 0x1p126f && size < __builtin_inff())
    return a * __builtin_copysignf(0.0f, b);
  return a / b;
}
namespace kopt_emulated {
/// Reduces an angle to one turn. It is rounded before whole turns are removed, so a large angle keeps few of its bits.
KOPT_HD double turnedAngle(float x) {
  float turns = x * 0.15915494309189533577f;
  return 6.28318530717958647693 * ((double)turns - __builtin_floor((double)turns));
}
} // namespace kopt_emulated
// The C library declares functions with these names, so these define the same functions.
#define KOPT_FAST extern "C" __inline__ __attribute__((host, device, always_inline))
KOPT_FAST float __expf(float x) noexcept { return ::exp2f(x * 1.44269504088896340736f); }
KOPT_FAST float __exp10f(float x) noexcept { return ::exp2f(x * 3.32192809488736234787f); }
KOPT_FAST float __logf(float x) noexcept { return ::log2f(x) * 0.69314718055994530942f; }
KOPT_FAST float __log2f(float x) noexcept { return ::log2f(x); }
KOPT_FAST float __log10f(float x) noexcept { return ::log2f(x) * 0.30102999566398119521f; }
KOPT_FAST float __powf(float a, float b) noexcept { return ::exp2f(b * ::log2f(a)); }
KOPT_FAST float __sinf(float x) noexcept { return (float)::sin(kopt_emulated::turnedAngle(x)); }
KOPT_FAST float __cosf(float x) noexcept { return (float)::cos(kopt_emulated::turnedAngle(x)); }
KOPT_FAST float __tanf(float x) noexcept { return __sinf(x) / __cosf(x); }
KOPT_FAST float __tanhf(float x) noexcept { return ::tanhf(x); }
KOPT_FAST void __sincosf(float x, float *s, float *c) noexcept { *s = __sinf(x), *c = __cosf(x); }
#undef KOPT_FAST

// Arithmetic with a given rounding direction: the result rounded to nearest is moved by one step if its exact error
// requires that.
namespace kopt_emulated {
template <class T> KOPT_D T directed(T nearest, T error, int mode) {
  if (error == 0 || nearest != nearest)
    return nearest;
  bool up = error > 0, towards_zero = mode == 1;
  T zero = 0;
  if (mode == 2 || (towards_zero && nearest < 0))
    return up ? ::nextafter(nearest, (T)__builtin_huge_val()) : nearest;
  if (mode == 3 || (towards_zero && nearest > zero))
    return up ? nearest : ::nextafter(nearest, -(T)__builtin_huge_val());
  return nearest;
}
template <class T> KOPT_D T add(T a, T b, int mode) {
  T s = a + b, t = s - a;
  return directed(s, (a - (s - t)) + (b - t), mode);
}
template <class T> KOPT_D T multiply(T a, T b, int mode) {
  T p = a * b;
  return directed(p, (T)::fma(a, b, -p), mode);
}
template <class T> KOPT_D T divide(T a, T b, int mode) {
  T q = a / b, residual = (T)::fma(-q, b, a);
  return directed(q, b > 0 ? residual : -residual, mode);
}
template <class T> KOPT_D T squareRoot(T a, int mode) {
  T s = (T)::sqrt(a);
  return directed(s, (T)::fma(-s, s, a), mode);
}
} // namespace kopt_emulated

#define KOPT_ROUNDED(SUFFIX, MODE)                                                                 \
  KOPT_D float __fadd_##SUFFIX(float a, float b) { return kopt_emulated::add(a, b, MODE); }        \
  KOPT_D float __fsub_##SUFFIX(float a, float b) { return kopt_emulated::add(a, -b, MODE); }       \
  KOPT_D float __fmul_##SUFFIX(float a, float b) { return kopt_emulated::multiply(a, b, MODE); }   \
  KOPT_D float __fdiv_##SUFFIX(float a, float b) { return kopt_emulated::divide(a, b, MODE); }     \
  KOPT_D float __frcp_##SUFFIX(float a) { return kopt_emulated::divide(1.0f, a, MODE); }           \
  KOPT_D float __fsqrt_##SUFFIX(float a) { return kopt_emulated::squareRoot(a, MODE); }            \
  KOPT_D double __dadd_##SUFFIX(double a, double b) { return kopt_emulated::add(a, b, MODE); }     \
  KOPT_D double __dsub_##SUFFIX(double a, double b) { return kopt_emulated::add(a, -b, MODE); }    \
  KOPT_D double __dmul_##SUFFIX(double a, double b) { return kopt_emulated::multiply(a, b, MODE); }\
  KOPT_D double __ddiv_##SUFFIX(double a, double b) { return kopt_emulated::divide(a, b, MODE); }  \
  KOPT_D double __drcp_##SUFFIX(double a) { return kopt_emulated::divide(1.0, a, MODE); }          \
  KOPT_D double __dsqrt_##SUFFIX(double a) { return kopt_emulated::squareRoot(a, MODE); }
KOPT_ROUNDED(rz, 1)
KOPT_ROUNDED(ru, 2)
KOPT_ROUNDED(rd, 3)
#undef KOPT_ROUNDED

// Rounded to nearest, and never contracted into a fused multiply-add.
#define KOPT_NEAREST(PREFIX, T, SQRT)                                                              \
  KOPT_D T __##PREFIX##add_rn(T a, T b) { _Pragma("clang fp contract(off)") return a + b; }        \
  KOPT_D T __##PREFIX##sub_rn(T a, T b) { _Pragma("clang fp contract(off)") return a - b; }        \
  KOPT_D T __##PREFIX##mul_rn(T a, T b) { _Pragma("clang fp contract(off)") return a * b; }        \
  KOPT_D T __##PREFIX##div_rn(T a, T b) { return a / b; }                                          \
  KOPT_D T __##PREFIX##rcp_rn(T a) { return (T)1 / a; }                                            \
  KOPT_D T __##PREFIX##sqrt_rn(T a) { return SQRT(a); }
KOPT_NEAREST(f, float, __builtin_sqrtf)
KOPT_NEAREST(d, double, __builtin_sqrt)
#undef KOPT_NEAREST
KOPT_D float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
KOPT_D double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
KOPT_D float __frsqrt_rn(float a) { return (float)(1.0 / __builtin_sqrt((double)a)); }

// min and max for every combination of types that CUDA overloads.
#define KOPT_MIN_MAX(R, A, B)                                                                      \
  KOPT_HD R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                                    \
  KOPT_HD R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
KOPT_MIN_MAX(int, int, int)
KOPT_MIN_MAX(unsigned, unsigned, unsigned)
KOPT_MIN_MAX(unsigned, int, unsigned)
KOPT_MIN_MAX(unsigned, unsigned, int)
KOPT_MIN_MAX(long, long, long)
KOPT_MIN_MAX(unsigned long, unsigned long, unsigned long)
KOPT_MIN_MAX(unsigned long, long, unsigned long)
KOPT_MIN_MAX(unsigned long, unsigned long, long)
KOPT_MIN_MAX(long long, long long, long long)
KOPT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
KOPT_MIN_MAX(unsigned long long, long long, unsigned long long)
KOPT_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef KOPT_MIN_MAX
KOPT_HD float min(float a, float b) { return __builtin_fminf(a, b); }
KOPT_HD float max(float a, float b) { return __builtin_fmaxf(a, b); }
KOPT_HD double min(double a, double b) { return __builtin_fmin(a, b); }
KOPT_HD double max(double a, double b) { return __builtin_fmax(a, b); }
KOPT_HD double min(float a, double b) { return __builtin_fmin(a, b); }
KOPT_HD double max(float a, double b) { return __builtin_fmax(a, b); }
KOPT_HD double min(double a, float b) { return __builtin_fmin(a, b); }
KOPT_HD double max(double a, float b) { return __builtin_fmax(a, b); }
KOPT_HD unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
KOPT_HD unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
KOPT_HD long long llmin(long long a, long long b) { return a < b ? a : b; }
KOPT_HD long long llmax(long long a, long long b) { return a > b ? a : b; }
