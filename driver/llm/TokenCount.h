// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace kopt {

/// A provider's count of tokens; 0 where there is none. At most a million million: sums of what a
/// service claims do not overflow.
inline long tokenCount(const nlohmann::json &usage, const char *key) {
  if (!usage.is_object() || !usage.contains(key) || !usage[key].is_number_unsigned())
    return 0;
  return long(std::min<std::uint64_t>(usage[key].get<std::uint64_t>(), 1'000'000'000'000));
}

} // namespace kopt
