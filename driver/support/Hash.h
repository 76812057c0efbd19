// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kopt {

/// XXH3-128 of the bytes as 32 hex digits. The algorithm is part of what is stored on disk: never
/// change it.
std::string hashHex(std::string_view bytes);

/// Hash of several fields; unlike a concatenation, ("ab","c") and ("a","bc") differ.
template <class... Parts> std::string hashFields(const Parts &...parts) {
  std::string joined;
  ((joined += std::to_string(std::string_view(parts).size()) + ":" + std::string(parts) + ";"),
   ...);
  return hashHex(joined);
}

} // namespace kopt
