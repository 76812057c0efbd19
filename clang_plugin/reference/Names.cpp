// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Names.h"

#include "PreciseFiles.h"
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

/// Intrinsics of half and bfloat16 that precise/small_floats.cuh defines under the same name
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

} // namespace

const NewName *newNameOf(llvm::StringRef name) {
  static const auto *names = new std::map<std::string, NewName, std::less<>>(table());
  const auto found = names->find(std::string_view(name));
  return found == names->end() ? nullptr : &found->second;
}

llvm::StringRef helperText(Helper helper) {
  return helper == Helper::None ? "" : precise::kFiles[std::size_t(helper) - 1].second;
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
