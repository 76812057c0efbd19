// SPDX-License-Identifier: Apache-2.0
// The types of a buffer's elements, by name ("f32"), and the elements' values.
#pragma once

#include "runtime/device/Float16.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <string>

namespace kopt {

/// The object that begins at `bytes`, which need not be aligned.
template <class T> T loadAs(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

namespace element {

/// An element type: its size in bytes, whether it is a floating-point type, and its value.
/// Integers, which a double may not represent exactly, also have a text and a distance between two
/// of them.
template <class T> struct Exact {
  static constexpr std::size_t kSize = sizeof(T);
  static constexpr bool kFloating = false;
  static double value(const char *bytes) { return double(loadAs<T>(bytes)); }
  static std::string show(const char *bytes) { return fmt::format("{}", +loadAs<T>(bytes)); }
  static std::uint64_t distance(const char *left, const char *right) {
    const auto [low, high] = std::minmax({loadAs<T>(left), loadAs<T>(right)});
    return std::uint64_t(high) - std::uint64_t(low); // modulo 2^64, so negative ones work, too
  }
};
template <class T> struct Real {
  static constexpr std::size_t kSize = sizeof(T);
  static constexpr bool kFloating = true;
  static double value(const char *bytes) { return double(loadAs<T>(bytes)); }
};
using Float = Real<float>;
using Double = Real<double>;
template <int exponentBits, int mantissaBits> struct Of16Bits {
  static constexpr std::size_t kSize = 2;
  static constexpr bool kFloating = true;
  static double value(const char *bytes) {
    return runtime::widen<exponentBits, mantissaBits>(loadAs<std::uint16_t>(bytes));
  }
};
using Half = Of16Bits<5, 10>;
using Bfloat = Of16Bits<8, 7>;

} // namespace element

/// Calls `use` with the element type of a scalar's name.
template <class Use> auto withElementType(const std::string &scalar, Use use) {
  if (scalar == "f32")
    return use(element::Float{});
  if (scalar == "f64")
    return use(element::Double{});
  if (scalar == "f16")
    return use(element::Half{});
  if (scalar == "bf16")
    return use(element::Bfloat{});
  if (scalar == "i8")
    return use(element::Exact<std::int8_t>{});
  if (scalar == "i16")
    return use(element::Exact<std::int16_t>{});
  if (scalar == "u16")
    return use(element::Exact<std::uint16_t>{});
  if (scalar == "i32")
    return use(element::Exact<std::int32_t>{});
  if (scalar == "u32")
    return use(element::Exact<std::uint32_t>{});
  if (scalar == "i64")
    return use(element::Exact<std::int64_t>{});
  if (scalar == "u64")
    return use(element::Exact<std::uint64_t>{});
  // bool, u8, and types that have no single scalar, byte by byte.
  return use(element::Exact<std::uint8_t>{});
}

/// Bytes of one element of a scalar type ("f32": 4); 1 for names it does not know.
inline std::uint64_t elementBytes(const std::string &scalar) {
  return withElementType(scalar, [](auto type) { return std::uint64_t(type.kSize); });
}
/// "f16", "bf16", "f32", "f64"
inline bool isFloating(const std::string &scalar) {
  return withElementType(scalar, [](auto type) { return type.kFloating; });
}

} // namespace kopt
