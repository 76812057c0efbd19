// SPDX-License-Identifier: Apache-2.0
// What buffers are filled with. The driver, the protocol and the runner share this enum.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace kopt::runtime {

/// README.md describes each of them.
enum class FillKind {
  Uniform,
  Zero,
  Iota,
  Constant,
  Captured,
  Integers,
  Sorted,
  Uneven,
  Cancelling,
  Special,
  Masked,
  Tiny,
  Permutation,
  Colliding,
  Scattered,
  Values,
};

/// The names that the protocol and the database use.
inline constexpr std::pair<FillKind, const char *> kFillKinds[] = {
    {FillKind::Uniform, "uniform"},     {FillKind::Zero, "zero"},
    {FillKind::Iota, "iota"},           {FillKind::Constant, "constant"},
    {FillKind::Captured, "captured"},   {FillKind::Integers, "integers"},
    {FillKind::Sorted, "sorted"},       {FillKind::Cancelling, "cancelling"},
    {FillKind::Special, "special"},     {FillKind::Masked, "masked"},
    {FillKind::Tiny, "tiny"},           {FillKind::Permutation, "permutation"},
    {FillKind::Colliding, "colliding"}, {FillKind::Scattered, "scattered"},
    {FillKind::Uneven, "uneven"},       {FillKind::Values, "values"},
};

constexpr const char *toString(FillKind kind) {
  for (const auto &[known, name] : kFillKinds)
    if (known == kind)
      return name;
  return "";
}

/// The kind of that name, or nothing.
constexpr std::optional<FillKind> parseFillKind(std::string_view text) {
  for (const auto &[known, name] : kFillKinds)
    if (text == name)
      return known;
  return std::nullopt;
}

} // namespace kopt::runtime
