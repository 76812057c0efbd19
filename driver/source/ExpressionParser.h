// SPDX-License-Identifier: Apache-2.0
// The syntax tree behind Expression.h.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kopt::expression {

/// A basic type, as casts and sizeof name it.
struct Type {
  unsigned bytes = 0;
  bool real = false, isUnsigned = false, boolean = false;
};

struct Node {
  enum class Kind { Integer, Real, Name, Unary, Binary, Conditional, Cast, Call };
  Kind kind = Kind::Integer;
  std::size_t column = 1; ///< in the text, from 1
  std::string
      text; ///< operator, function or name; names without blanks: "ns::kTile", "size.x", "v.size()"
  std::int64_t integer = 0;
  double real = 0;
  Type type;
  std::vector<Node> children;
};

/// Fails with Usage naming the column.
Result<Node> parse(const std::string &text);

} // namespace kopt::expression
