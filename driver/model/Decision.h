// SPDX-License-Identifier: Apache-2.0
// What the search decided, as it is stored.
#pragma once

#include <cstdint>
#include <string>

namespace kopt {

struct Decision {
  std::int64_t sequence = 0;
  int round = 0;
  /// stage, propose, accept, confirm, reject, stop; and for the report: "verified" (one way in
  /// which the baseline or the winner was checked) and "unchecked" (what could not be checked, and
  /// why)
  std::string kind;
  std::string text; ///< for people
  std::string data; ///< JSON
};

} // namespace kopt
