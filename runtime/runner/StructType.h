// SPDX-License-Identifier: Apache-2.0
// A struct that holds scalars of several kinds, as the element type of a buffer spells it: "struct
// 16 f32 0 f32 4 i32 8" has 16 bytes, two floats and an int; bytes 12 to 15 are padding. Also the
// sizes of scalars.
#pragma once

#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::runtime {

/// Bytes of a scalar; 0 for anything else.
inline std::uint32_t scalarBytes(std::string_view name) {
  constexpr std::string_view kNames[] = {"bool", "i8",  "u8",  "i16", "u16", "f16", "bf16",
                                         "i32",  "u32", "f32", "i64", "u64", "f64"};
  constexpr std::uint32_t kBytes[] = {1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8};
  const auto found = std::ranges::find(kNames, name);
  return found == std::end(kNames) ? 0 : kBytes[found - kNames];
}

struct StructType {
  struct Member {
    std::string scalar;
    std::uint32_t offset = 0, bytes = 0;
  };
  std::uint32_t bytes = 0; ///< of an element, padding included
  std::vector<Member> members;

  /// Nothing if `text` is a scalar or malformed, for example with a member beyond the end or an
  /// unknown scalar.
  static std::optional<StructType> parse(std::string_view text) {
    // Called for every piece of every buffer, and nearly always for a scalar.
    if (!text.starts_with("struct "))
      return std::nullopt;
    const std::vector<std::string_view> words = protocol::split(text, ' ');
    if (words.size() < 4 || words.size() % 2 != 0)
      return std::nullopt;
    StructType made;
    const auto bytes = protocol::parseNumber<std::uint32_t>(words[1]);
    if (!bytes)
      return std::nullopt;
    made.bytes = *bytes;
    for (std::size_t i = 2; i < words.size(); i += 2) {
      const auto offset = protocol::parseNumber<std::uint32_t>(words[i + 1]);
      const std::uint32_t width = scalarBytes(words[i]);
      if (!offset || width == 0 || *offset > made.bytes || width > made.bytes - *offset)
        return std::nullopt;
      made.members.push_back({std::string(words[i]), *offset, width});
    }
    return made;
  }
};

/// True for a floating-point scalar and for a struct with one.
inline bool holdsFloatingPoint(std::string_view scalar) {
  const auto isOne = [](std::string_view name) {
    return scalarBytes(name) > 0 && (name.front() == 'f' || name == "bf16");
  };
  if (const auto type = StructType::parse(scalar))
    return std::ranges::any_of(
        type->members, [&](const StructType::Member &member) { return isOne(member.scalar); });
  return isOne(scalar);
}

/// Bytes of an element as a user counts elements: for a struct, the whole struct; 1 for an unknown
/// type.
inline std::uint32_t elementSize(std::string_view type) {
  const auto found = StructType::parse(type);
  return found ? found->bytes : std::max(1u, scalarBytes(type));
}

} // namespace kopt::runtime
