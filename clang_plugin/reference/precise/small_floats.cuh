// SPDX-License-Identifier: Apache-2.0
namespace kopt_precise {
struct __align__(16) Pair {
  double x, y;
  Pair() = default;
  __host__ __device__ Pair(double a, double b) : x(a), y(b) {}
};
#define KOPT_HD __host__ __device__ __forceinline__
KOPT_HD Pair operator+(Pair a, Pair b) { return Pair(a.x + b.x, a.y + b.y); }
KOPT_HD Pair operator-(Pair a, Pair b) { return Pair(a.x - b.x, a.y - b.y); }
KOPT_HD Pair operator*(Pair a, Pair b) { return Pair(a.x * b.x, a.y * b.y); }
KOPT_HD Pair operator/(Pair a, Pair b) { return Pair(a.x / b.x, a.y / b.y); }
KOPT_HD Pair operator-(Pair a) { return Pair(-a.x, -a.y); }
KOPT_HD Pair &operator+=(Pair &a, Pair b) { return a = a + b; }
KOPT_HD Pair &operator-=(Pair &a, Pair b) { return a = a - b; }
KOPT_HD Pair &operator*=(Pair &a, Pair b) { return a = a * b; }
KOPT_HD Pair &operator/=(Pair &a, Pair b) { return a = a / b; }
KOPT_HD double2 pairToDouble2(Pair a) { return make_double2(a.x, a.y); }
KOPT_HD Pair double2ToPair(double2 a) { return Pair(a.x, a.y); }
KOPT_HD Pair makePair(double a, double b) { return Pair(a, b); }
KOPT_HD Pair bothOf(double a) { return Pair(a, a); }
KOPT_HD double lowOf(Pair a) { return a.x; }
KOPT_HD double highOf(Pair a) { return a.y; }
KOPT_HD Pair lowBoth(Pair a) { return Pair(a.x, a.x); }
KOPT_HD Pair highBoth(Pair a) { return Pair(a.y, a.y); }
KOPT_HD Pair swapped(Pair a) { return Pair(a.y, a.x); }
KOPT_HD Pair lowsOf(Pair a, Pair b) { return Pair(a.x, b.x); }
KOPT_HD Pair highsOf(Pair a, Pair b) { return Pair(a.y, b.y); }
#define KOPT_BOTH(NAME, EXPRESSION) \
  KOPT_HD double NAME(double a, double b) { return EXPRESSION; } \
  KOPT_HD Pair NAME##2(Pair a, Pair b) { return Pair(NAME(a.x, b.x), NAME(a.y, b.y)); }
KOPT_BOTH(hadd, a + b)
KOPT_BOTH(hsub, a - b)
KOPT_BOTH(hmul, a * b)
KOPT_BOTH(hmin, fmin(a, b))
KOPT_BOTH(hmax, fmax(a, b))
#undef KOPT_BOTH
KOPT_HD double hadd_rn(double a, double b) { return a + b; }
KOPT_HD double hsub_rn(double a, double b) { return a - b; }
KOPT_HD double hmul_rn(double a, double b) { return a * b; }
KOPT_HD Pair hadd2_rn(Pair a, Pair b) { return a + b; }
KOPT_HD Pair hsub2_rn(Pair a, Pair b) { return a - b; }
KOPT_HD Pair hmul2_rn(Pair a, Pair b) { return a * b; }
KOPT_HD double hdiv(double a, double b) { return a / b; }
KOPT_HD Pair h2div(Pair a, Pair b) { return a / b; }
KOPT_HD double hfma(double a, double b, double c) { return fma(a, b, c); }
KOPT_HD Pair hfma2(Pair a, Pair b, Pair c) { return Pair(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)); }
KOPT_HD double hneg(double a) { return -a; }
KOPT_HD Pair hneg2(Pair a) { return -a; }
KOPT_HD double habs(double a) { return fabs(a); }
KOPT_HD Pair habs2(Pair a) { return Pair(fabs(a.x), fabs(a.y)); }
KOPT_HD bool hlt(double a, double b) { return a < b; }
KOPT_HD bool hle(double a, double b) { return a <= b; }
KOPT_HD bool hgt(double a, double b) { return a > b; }
KOPT_HD bool hge(double a, double b) { return a >= b; }
KOPT_HD bool heq(double a, double b) { return a == b; }
KOPT_HD bool hne(double a, double b) { return a != b; }
KOPT_HD bool hisnan(double a) { return a != a; }
KOPT_HD int hisinf(double a) { return a - a != a - a && a == a ? (a < 0 ? -1 : 1) : 0; }
#define KOPT_EACH(NAME, PAIR, FUNCTION) \
  KOPT_HD double NAME(double a) { return FUNCTION(a); } \
  KOPT_HD Pair PAIR(Pair a) { return Pair(NAME(a.x), NAME(a.y)); }
KOPT_HD double reciprocal(double a) { return 1.0 / a; }
KOPT_EACH(hsqrt, h2sqrt, sqrt)
KOPT_EACH(hrsqrt, h2rsqrt, 1.0 / sqrt)
KOPT_EACH(hrcp, h2rcp, reciprocal)
KOPT_EACH(hexp, h2exp, exp)
KOPT_EACH(hexp2, h2exp2, exp2)
KOPT_EACH(hlog, h2log, log)
KOPT_EACH(hlog2, h2log2, log2)
KOPT_EACH(hsin, h2sin, sin)
KOPT_EACH(hcos, h2cos, cos)
#undef KOPT_EACH
KOPT_HD double hexp10(double a) { return pow(10.0, a); }
KOPT_HD double hlog10(double a) { return log10(a); }
KOPT_HD double htanh(double a) { return tanh(a); }
KOPT_HD double hfloor(double a) { return floor(a); }
KOPT_HD double hceil(double a) { return ceil(a); }
KOPT_HD double hrint(double a) { return rint(a); }
KOPT_HD double htrunc(double a) { return trunc(a); }
#undef KOPT_HD
}
