// SPDX-License-Identifier: Apache-2.0
// What a launch's own numbers say of the host variables that its launch site's expressions name.
#pragma once

#include "driver/source/Expression.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

/// The values that a host variable can have had, both included. Empty as it is made.
struct HostRange {
  std::int64_t least = 1, most = 0;
};

/// `known` are expressions and the numbers that they had; `values` are known names. A name is found
/// if it is the only unknown one of an expression that grows with it, as `n` is in
/// `(n + 255) / 256`, and if all such expressions allow a common value from 1 to 2^40. A name that
/// has one value only counts as known for the others.
std::map<std::string, HostRange>
hostRanges(const std::vector<std::pair<std::string, std::int64_t>> &known, Bindings values);

} // namespace kopt
