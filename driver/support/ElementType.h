// SPDX-License-Identifier: Apache-2.0
// The types of a buffer's elements, by name ("f32"), and the elements' values.
#pragma once

#include "runtime/device/Scalar.h"

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
  static double value(const char *bytes) {
    return runtime::FloatTraits<T>::valueOf(loadAs<T>(bytes));
  }
};
using Float = Real<float>;
using Double = Real<double>;
using Half = Real<runtime::Half>;
using Bfloat = Real<runtime::Bfloat>;

} // namespace element

/// Calls `use` with the element type of a scalar's name. bool, u8, and types that have no single
/// scalar, are bytes.
template <class Use> auto withElementType(const std::string &scalar, Use use) {
  return runtime::withScalar(scalar, [&]<class T>(std::type_identity<T>) {
    return use(std::conditional_t<std::integral<T>, element::Exact<T>, element::Real<T>>());
  });
}

/// Bytes of one element of a scalar type ("f32": 4); 1 for names it does not know.
inline std::uint64_t elementBytes(const std::string &scalar) {
  return runtime::bytesOfScalar(scalar);
}
/// "f16", "bf16", "f32", "f64"
inline bool isFloating(const std::string &scalar) { return runtime::isFloatingPoint(scalar); }

} // namespace kopt
