// SPDX-License-Identifier: Apache-2.0
// A struct that holds scalars of several kinds, as the element type of a buffer spells it: "struct
// 16 f32 0 f32 4 i32 8" has 16 bytes, two floats and an int; bytes 12 to 15 are padding.
#pragma once

#include "runtime/device/Scalar.h"
#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::runtime {

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
  const auto type = StructType::parse(scalar);
  return type ? std::ranges::any_of(type->members, isFloatingPoint, &StructType::Member::scalar)
              : isFloatingPoint(scalar);
}

/// Bytes of an element as a user counts elements: for a struct, the whole struct; 1 for an unknown
/// type.
inline std::uint32_t elementSize(std::string_view type) {
  const auto found = StructType::parse(type);
  return found ? found->bytes : bytesOfScalar(type);
}

} // namespace kopt::runtime
