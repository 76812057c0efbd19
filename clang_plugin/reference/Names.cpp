// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Names.h"

#include "clang_plugin/analysis/CudaFunctions.h"

#include <map>

namespace kopt::frontend {

namespace {

/// Functions of the C library and of CUDA that exist as NAMEf for float and as NAME for double.
constexpr const char *kStems[] = {
    "acos",    "acosh",         "asin",          "asinh",    "atan",    "atan2",
    "atanh",   "cbrt",          "ceil",          "copysign", "cos",     "cosh",
    "cospi",   "cyl_bessel_i0", "cyl_bessel_i1", "erf",      "erfc",    "erfcinv",
    "erfcx",   "erfinv",        "exp",           "exp10",    "exp2",    "expm1",
    "fabs",    "fdim",          "floor",         "fma",      "fmax",    "fmin",
    "fmod",    "frexp",         "hypot",         "ilogb",    "j0",      "j1",
    "jn",      "ldexp",         "lgamma",        "llrint",   "llround", "log",
    "log10",   "log1p",         "log2",          "logb",     "lrint",   "lround",
    "modf",    "nearbyint",     "norm3d",        "norm4d",   "normcdf", "normcdfinv",
    "pow",     "rcbrt",         "remainder",     "remquo",   "rhypot",  "rint",
    "rnorm3d", "rnorm4d",       "round",         "rsqrt",    "scalbln", "scalbn",
    "sin",     "sincos",        "sincospi",      "sinh",     "sinpi",   "sqrt",
    "tan",     "tanh",          "tgamma",        "trunc",    "y0",      "y1",
    "yn"};

/// Approximate functions, which the clone replaces by the precise ones.
constexpr std::pair<const char *, const char *> kApproximations[] = {
    {"__expf", "exp"},     {"__exp10f", "exp10"},   {"__logf", "log"}, {"__log2f", "log2"},
    {"__log10f", "log10"}, {"__sinf", "sin"},       {"__cosf", "cos"}, {"__tanf", "tan"},
    {"__tanhf", "tanh"},   {"__sincosf", "sincos"}, {"__powf", "pow"}, {"__frsqrt_rn", "rsqrt"}};

/// Intrinsics of half and bfloat16 that the helpers (kSmallFloats) define under the same name
/// without leading underscores.
constexpr const char *kSmall[] = {
    "__hadd",    "__hsub",     "__hmul",     "__hdiv",     "__hfma",  "__hneg",    "__habs",
    "__hmin",    "__hmax",     "__hlt",      "__hle",      "__hgt",   "__hge",     "__heq",
    "__hne",     "__hisnan",   "__hisinf",   "__hadd2",    "__hsub2", "__hmul2",   "__h2div",
    "__hfma2",   "__hneg2",    "__habs2",    "__hmin2",    "__hmax2", "__hadd_rn", "__hsub_rn",
    "__hmul_rn", "__hadd2_rn", "__hsub2_rn", "__hmul2_rn", "hsqrt",   "hrsqrt",    "hrcp",
    "hexp",      "hexp2",      "hexp10",     "hlog",       "hlog2",   "hlog10",    "hsin",
    "hcos",      "htanh",      "hfloor",     "hceil",      "hrint",   "htrunc",    "h2sqrt",
    "h2rsqrt",   "h2rcp",      "h2exp",      "h2exp2",     "h2log",   "h2log2",    "h2sin",
    "h2cos"};

/// Conversions between a narrow type and float, or between two of them: the same number.
constexpr const char *kConversions[] = {
    "__half2float",        "__float2half",        "__float2half_rn",     "__double2half",
    "__bfloat162float",    "__float2bfloat16",    "__float2bfloat16_rn", "__double2bfloat16",
    "__int2half_rn",       "__uint2half_rn",      "__int2bfloat16_rn",   "__uint2bfloat16_rn",
    "__short2half_rn",     "__ushort2half_rn",    "__ll2half_rn",        "__ull2half_rn",
    "__short2bfloat16_rn", "__ushort2bfloat16_rn"};

constexpr std::pair<const char *, const char *> kPairs[] = {
    {"__half22float2", "pairToDouble2"},
    {"__bfloat1622float2", "pairToDouble2"},
    {"__float22half2_rn", "double2ToPair"},
    {"__float22bfloat162_rn", "double2ToPair"},
    {"__floats2half2_rn", "makePair"},
    {"__floats2bfloat162_rn", "makePair"},
    {"__halves2half2", "makePair"},
    {"__halves2bfloat162", "makePair"},
    {"make_half2", "makePair"},
    {"make_bfloat162", "makePair"},
    {"__half2half2", "bothOf"},
    {"__bfloat162bfloat162", "bothOf"},
    {"__float2half2_rn", "bothOf"},
    {"__float2bfloat162_rn", "bothOf"},
    {"__low2half", "lowOf"},
    {"__low2bfloat16", "lowOf"},
    {"__high2half", "highOf"},
    {"__high2bfloat16", "highOf"},
    {"__low2float", "lowOf"},
    {"__high2float", "highOf"},
    {"__low2half2", "lowBoth"},
    {"__high2half2", "highBoth"},
    {"__low2bfloat162", "lowBoth"},
    {"__high2bfloat162", "highBoth"},
    {"__lowhigh2highlow", "swapped"},
    {"__lows2half2", "lowsOf"},
    {"__highs2half2", "highsOf"}};

std::map<std::string, NewName, std::less<>> table() {
  std::map<std::string, NewName, std::less<>> names;
  const auto plain = [&](const std::string &from, const std::string &to) { names[from] = {to}; };
  const auto helped = [&](const std::string &from, const std::string &to, Helper helper) {
    names[from] = {"kopt_precise::" + to, helper};
  };
  plain("float", "double");
  for (const char *digit : {"1", "2", "3"}) {
    plain(std::string("float") + digit, std::string("double") + digit);
    plain(std::string("make_float") + digit, std::string("make_double") + digit);
  }
  names["float4"] = {"kopt_double4", Helper::Vector4};
  names["make_float4"] = {"kopt_make_double4", Helper::Vector4};
  for (const char *type : {"half", "__half", "nv_half", "nv_bfloat16", "__nv_bfloat16"})
    plain(type, "double");
  for (const char *type : {"half2", "__half2", "nv_half2", "nv_bfloat162", "__nv_bfloat162"})
    helped(type, "Pair", Helper::Small);

  for (const char *stem : kStems)
    plain(std::string(stem) + "f", stem);
  for (const auto &[name, exact] : kApproximations)
    plain(name, exact);
  for (const char *operation : {"add", "sub", "mul", "div"})
    for (const char *mode : {"rn", "rz", "ru", "rd"})
      plain(std::string("__f") + operation + "_" + mode,
            std::string("__d") + operation + "_" + mode);
  for (const char *mode : {"rn", "rz", "ru", "rd"}) {
    plain(std::string("__fmaf_") + mode, std::string("__fma_") + mode);
    plain(std::string("__frcp_") + mode, std::string("__drcp_") + mode);
    plain(std::string("__fsqrt_") + mode, std::string("__dsqrt_") + mode);
    for (const char *integer : {"int", "uint", "ll", "ull"}) {
      plain(std::string("__float2") + integer + "_" + mode,
            std::string("__double2") + integer + "_" + mode);
      helped(std::string("__") + integer + "2float_" + mode, "fromInteger", Helper::Arithmetic);
    }
    helped(std::string("__double2float_") + mode, "same", Helper::Arithmetic);
  }
  for (const char *name : {"__fdividef", "fdividef"})
    helped(name, "divide", Helper::Arithmetic);
  helped("__saturatef", "saturate", Helper::Arithmetic);
  helped("atomicExch", "exchange", Helper::Arithmetic);
  for (llvm::StringRef name : cudaNames(CudaFunction::CacheLoad))
    helped(name.str(), "load", Helper::Memory);
  for (llvm::StringRef name : cudaNames(CudaFunction::CacheStore))
    helped(name.str(), "store", Helper::Memory);
  for (const char *name : kSmall)
    helped(name, llvm::StringRef(name).ltrim('_').str(), Helper::Small);
  for (const char *name : kConversions)
    helped(name, "same", Helper::Arithmetic);
  for (const auto &[name, helper] : kPairs)
    helped(name, helper, Helper::Small);

  for (const auto &[name, doubled] : std::initializer_list<std::pair<const char *, const char *>>{
           {"cuFloatComplex", "cuDoubleComplex"},
           {"cuComplex", "cuDoubleComplex"},
           {"make_cuFloatComplex", "make_cuDoubleComplex"},
           {"make_cuComplex", "make_cuDoubleComplex"},
           {"cuCrealf", "cuCreal"},
           {"cuCimagf", "cuCimag"},
           {"cuCaddf", "cuCadd"},
           {"cuCsubf", "cuCsub"},
           {"cuCmulf", "cuCmul"},
           {"cuCdivf", "cuCdiv"},
           {"cuCabsf", "cuCabs"},
           {"cuConjf", "cuConj"},
           {"cuCfmaf", "cuCfma"}})
    plain(name, doubled);
  return names;
}

// CUDA 13 renames the former double4 to double4_16a.
constexpr char kVector4[] = R"(#ifndef KOPT_PRECISE_VECTOR4
#define KOPT_PRECISE_VECTOR4
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 13
#define kopt_double4 double4_16a
#define kopt_make_double4 make_double4_16a
#else
#define kopt_double4 double4
#define kopt_make_double4 make_double4
#endif
#endif
)";

// There is no __ldg() for double4; a plain load reads the same value.
constexpr char kMemory[] = R"(namespace kopt_precise {
template <class T> __device__ __forceinline__ T load(const T *from) { return *from; }
template <class T, class V> __device__ __forceinline__ void store(T *to, V value) { *to = value; }
}
)";

constexpr char kArithmetic[] = R"(namespace kopt_precise {
__host__ __device__ __forceinline__ double same(double x) { return x; }
template <class I> __host__ __device__ __forceinline__ double fromInteger(I x) { return (double)x; }
__host__ __device__ __forceinline__ double divide(double a, double b) { return a / b; }
__device__ __forceinline__ double saturate(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
template <class T, class V> __device__ __forceinline__ T exchange(T *at, V value) { return atomicExch(at, (T)value); }
template <class V> __device__ __forceinline__ double exchange(double *at, V value) {
  return __longlong_as_double((long long)atomicExch((unsigned long long *)at, (unsigned long long)__double_as_longlong((double)value)));
}
}
)";

constexpr char kSmallFloats[] = R"(namespace kopt_precise {
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
)";

} // namespace

const NewName *newNameOf(llvm::StringRef name) {
  static const auto *names = new std::map<std::string, NewName, std::less<>>(table());
  const auto found = names->find(std::string_view(name));
  return found == names->end() ? nullptr : &found->second;
}

llvm::StringRef helperText(Helper helper) {
  switch (helper) {
  case Helper::None:
    return "";
  case Helper::Vector4:
    return kVector4;
  case Helper::Memory:
    return kMemory;
  case Helper::Arithmetic:
    return kArithmetic;
  case Helper::Small:
    return kSmallFloats;
  }
  return "";
}

bool readsBits(llvm::StringRef function) {
  for (const char *narrow : {"float", "half", "bfloat16", "half2", "bfloat162"})
    if (function.starts_with((llvm::Twine("__") + narrow + "_as_").str()) ||
        function.ends_with((llvm::Twine("_as_") + narrow).str()))
      return true;
  return function == "nextafterf" || function == "nanf";
}

bool makesInteger(llvm::StringRef function) {
  static const char *const kNames[] = {"lrintf", "llrintf", "lroundf", "llroundf", "ilogbf",
                                       "lrint",  "llrint",  "lround",  "llround",  "ilogb"};
  for (const char *name : kNames)
    if (function == name)
      return true;
  for (llvm::StringRef narrow : {"__float2", "__half2", "__bfloat162"})
    if (function.consume_front(narrow))
      return function.starts_with("int") || function.starts_with("uint") ||
             function.starts_with("ll") || function.starts_with("ull") ||
             function.starts_with("short") || function.starts_with("ushort") ||
             function.starts_with("char") || function.starts_with("uchar");
  return false;
}

} // namespace kopt::frontend
