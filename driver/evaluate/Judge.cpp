// SPDX-License-Identifier: Apache-2.0
#include "driver/evaluate/Judge.h"

#include "driver/support/FileSystem.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <limits>

namespace kopt {
namespace {

float halfToFloat(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0)
    return std::bit_cast<float>(sign) + (sign ? -1.f : 1.f) * std::ldexp(float(mantissa), -24);
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

float bfloatToFloat(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

template <class T> T loadAs(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

struct ElementType {
  std::size_t size = 1;
  bool floating = false;
  double relative = 0; ///< of the default policy
  std::function<double(const char *)> load;
};

ElementType elementType(const std::string &scalar) {
  if (scalar == "f32")
    return {4, true, 1e-5, [](const char *p) { return double(loadAs<float>(p)); }};
  if (scalar == "f64")
    return {8, true, 1e-12, [](const char *p) { return loadAs<double>(p); }};
  if (scalar == "f16")
    return {2, true, 2e-3, [](const char *p) { return double(halfToFloat(loadAs<std::uint16_t>(p))); }};
  if (scalar == "bf16")
    return {2, true, 1.6e-2, [](const char *p) { return double(bfloatToFloat(loadAs<std::uint16_t>(p))); }};
  if (scalar == "i8")
    return {1, false, 0, [](const char *p) { return double(loadAs<std::int8_t>(p)); }};
  if (scalar == "i16")
    return {2, false, 0, [](const char *p) { return double(loadAs<std::int16_t>(p)); }};
  if (scalar == "u16")
    return {2, false, 0, [](const char *p) { return double(loadAs<std::uint16_t>(p)); }};
  if (scalar == "i32")
    return {4, false, 0, [](const char *p) { return double(loadAs<std::int32_t>(p)); }};
  if (scalar == "u32")
    return {4, false, 0, [](const char *p) { return double(loadAs<std::uint32_t>(p)); }};
  if (scalar == "i64")
    return {8, false, 0, [](const char *p) { return double(loadAs<std::int64_t>(p)); }};
  if (scalar == "u64")
    return {8, false, 0, [](const char *p) { return double(loadAs<std::uint64_t>(p)); }};
  // bool, u8 and the bytes of types without one scalar: compared bit for bit.
  return {1, false, 0, [](const char *p) { return double(loadAs<std::uint8_t>(p)); }};
}

double rootMeanSquare(const std::string &bytes, const ElementType &type) {
  double sum = 0;
  std::uint64_t count = 0;
  for (std::size_t at = 0; at + type.size <= bytes.size(); at += type.size) {
    const double value = type.load(bytes.data() + at);
    if (std::isfinite(value)) {
      sum += value * value;
      ++count;
    }
  }
  return count == 0 ? 0 : std::sqrt(sum / double(count));
}

/// The error of one element: 0 where it matches its like, infinity where a special value has no match.
double elementError(double expected, double actual) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isinf(expected) || std::isinf(actual))
    return expected == actual ? 0 : std::numeric_limits<double>::infinity();
  return std::abs(actual - expected);
}

} // namespace

std::string Mismatch::describe(const Buffer &buffer) const {
  return fmt::format("{}[{}] is {:.9g}, expected {:.9g}; {} of {} elements differ, worst error {:.3g} (allowed {:.3g})",
                     buffer.name, index, actual, expected, wrong, total, worstError, allowed);
}

Result<bool> sameBytes(const std::filesystem::path &a, const std::filesystem::path &b) {
  KOPT_TRY(const std::string left, readFile(a));
  KOPT_TRY(const std::string right, readFile(b));
  return left == right;
}

Result<std::optional<Mismatch>> compareBuffers(const Buffer &buffer, const Tolerance &tolerance,
                                               const std::filesystem::path &expected,
                                               const std::filesystem::path &actual) {
  KOPT_TRY(const std::string want, readFile(expected));
  KOPT_TRY(const std::string got, readFile(actual));
  if (want.size() != buffer.bytes || got.size() != buffer.bytes)
    return makeError(ErrorCode::Internal,
                     fmt::format("contents of buffer '{}' have {} and {} bytes instead of {}", buffer.name,
                                 want.size(), got.size(), buffer.bytes));
  if (want == got)
    return std::nullopt;

  const ElementType type = elementType(buffer.scalar);
  const bool bitwise = tolerance.policy == "strict" || !type.floating;
  const double scale = tolerance.policy == "default" && type.floating ? rootMeanSquare(want, type) : 0;

  Mismatch mismatch;
  mismatch.total = want.size() / type.size;
  double worstExcess = -1;
  for (std::size_t at = 0; at + type.size <= want.size(); at += type.size) {
    if (std::memcmp(want.data() + at, got.data() + at, type.size) == 0)
      continue;
    const double wanted = type.load(want.data() + at), seen = type.load(got.data() + at);
    const double error = elementError(wanted, seen);
    double allowed = 0;
    if (!bitwise)
      allowed = tolerance.policy == "user" ? tolerance.relative * std::abs(wanted) + tolerance.absolute
                                           : type.relative * std::max(std::abs(wanted), scale);
    const bool bothNaN = std::isnan(wanted) && std::isnan(seen);
    // Bits differ here, so under a bitwise policy only NaNs are equal to each other (and -0 is not +0).
    if (bitwise ? bothNaN : std::isfinite(error) && error <= allowed)
      continue;
    if (mismatch.wrong++ == 0) {
      mismatch.index = at / type.size;
      mismatch.expected = wanted;
      mismatch.actual = seen;
    }
    if (error - allowed > worstExcess) {
      worstExcess = error - allowed;
      mismatch.worstError = error;
      mismatch.allowed = allowed;
    }
  }
  if (mismatch.wrong == 0)
    return std::nullopt;
  return mismatch;
}

} // namespace kopt
