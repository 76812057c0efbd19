// SPDX-License-Identifier: Apache-2.0
// The types of numbers in buffers, by name: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool.
#pragma once

#include "runtime/device/Float16.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace kopt::runtime {

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

/// What a floating-point type can hold, and its numbers as doubles.
template <class T> struct FloatTraits {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr double kMax = std::numeric_limits<T>::max();
  static constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  static T from(double value) { return static_cast<T>(value); }
  static double valueOf(T value) { return double(value); }
};
template <> struct FloatTraits<Half> {
  using Bits = std::uint16_t;
  static constexpr double kMax = 65504;
  static constexpr int kMantissa = 10;
  static Half from(double value) { return {narrow<5, 10>(value)}; }
  static double valueOf(Half half) { return widen<5, 10>(half.bits); }
};
template <> struct FloatTraits<Bfloat> {
  using Bits = std::uint16_t;
  static constexpr double kMax = 3.3895313892515355e38;
  static constexpr int kMantissa = 7;
  static Bfloat from(double value) { return {narrow<8, 7>(value)}; }
  static double valueOf(Bfloat bfloat) { return widen<8, 7>(bfloat.bits); }
};

/// Calls `use` with the scalar's type as a std::type_identity. bool, and names of no scalar, are
/// bytes.
template <class Use> auto withScalar(std::string_view name, Use use) {
  if (name == "f32")
    return use(std::type_identity<float>());
  if (name == "f64")
    return use(std::type_identity<double>());
  if (name == "f16")
    return use(std::type_identity<Half>());
  if (name == "bf16")
    return use(std::type_identity<Bfloat>());
  if (name == "i8")
    return use(std::type_identity<std::int8_t>());
  if (name == "i16")
    return use(std::type_identity<std::int16_t>());
  if (name == "u16")
    return use(std::type_identity<std::uint16_t>());
  if (name == "i32")
    return use(std::type_identity<std::int32_t>());
  if (name == "u32")
    return use(std::type_identity<std::uint32_t>());
  if (name == "i64")
    return use(std::type_identity<std::int64_t>());
  if (name == "u64")
    return use(std::type_identity<std::uint64_t>());
  return use(std::type_identity<std::uint8_t>());
}

/// True if withScalar() calls with a floating-point type.
inline bool isFloatingPoint(std::string_view name) {
  return withScalar(name, []<class T>(std::type_identity<T>) { return !std::integral<T>; });
}

/// Bytes of a scalar; 1 for anything else.
inline std::uint32_t bytesOfScalar(std::string_view name) {
  return withScalar(name, []<class T>(std::type_identity<T>) { return std::uint32_t(sizeof(T)); });
}

/// Bytes of a scalar; 0 for anything else.
inline std::uint32_t scalarBytes(std::string_view name) {
  const std::uint32_t bytes = bytesOfScalar(name);
  return bytes > 1 || name == "bool" || name == "i8" || name == "u8" ? bytes : 0;
}

} // namespace kopt::runtime
