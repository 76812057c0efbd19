// SPDX-License-Identifier: Apache-2.0
// What a candidate has to leave alone because code outside of its kernel's slice uses it too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kopt {

struct SharedText {
  std::string name, user;                 ///< "'reference' (a.cu:12)"
  std::uint64_t begin = 0, end = 0;       ///< in the baseline's slice
  std::uint64_t newBegin = 0, newEnd = 0; ///< in the candidate's
};

struct SharedName {
  std::string name, user;
  bool isDeclared = false; ///< OutsideNamed's
};

struct SharedCode {
  std::vector<SharedText> texts;
  std::vector<SharedName> names;
};

} // namespace kopt
