// SPDX-License-Identifier: Apache-2.0
// Integer expressions as launch sites and clauses spell them: C operators, min, max and ceil_div
// calls, casts, sizeof of the basic types. Evaluated in 64-bit signed arithmetic.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kopt {

using Bindings = std::map<std::string, std::int64_t>;

/// Fails with Usage: a syntax error (with its column), division by zero, overflow, or names that
/// are not bound, all of which the message lists.
Result<std::int64_t> evaluateExpression(const std::string &text, const Bindings &names);

/// The names an expression refers to, in order of first use. Fails with Usage on a syntax error.
Result<std::vector<std::string>> namesIn(const std::string &text);

} // namespace kopt
