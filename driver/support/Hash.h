// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kopt {

/// XXH3-128 of the bytes as 32 hex digits. The algorithm is part of what is stored on disk: never
/// change it.
std::string hashHex(std::string_view bytes);

/// A seed that never changes for the same text, so that whatever is drawn with it can be drawn
/// again.
std::uint64_t seedFrom(std::string_view text);

/// The `index`-th number of the sequence of `seed`, by splitmix64 (Steele, Lea and Flood, OOPSLA
/// 2014). Results for neighbouring seeds or indices are unrelated.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t index);

/// Hash of several fields; unlike a concatenation, ("ab","c") and ("a","bc") differ.
template <class... Parts> std::string hashFields(const Parts &...parts) {
  std::string joined;
  ((joined += std::to_string(std::string_view(parts).size()) + ":" + std::string(parts) + ";"),
   ...);
  return hashHex(joined);
}

} // namespace kopt
