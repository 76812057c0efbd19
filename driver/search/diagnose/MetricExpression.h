// SPDX-License-Identifier: Apache-2.0
// The small language of rule conditions: numbers, metric names, + - * / %, comparisons, and / or /
// not, parentheses, min(a,b), max(a,b), ceil(a), floor(a). Comparisons give 1 or 0. Names are
// letters, digits, "_" and ".".
#pragma once

#include "driver/support/Result.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

class Expression {
public:
  /// Fails with Internal: the text and the column of what was not understood.
  static Result<Expression> parse(std::string_view text);

  /// The value of a name, or nothing where it is unknown.
  using Lookup = std::function<std::optional<double>(const std::string &)>;
  /// The value, or in words why there is none: a name without a value, a division by zero, a result
  /// that is not finite. `and` and `or` stop at the first operand that decides, but every name must
  /// have a value before anything is computed.
  tl::expected<double, std::string> evaluate(const Lookup &lookup) const;

  /// Every name in the text, in order of appearance, each once.
  const std::vector<std::string> &names() const { return names_; }

  struct Node;

private:
  std::shared_ptr<const Node> root_;
  std::vector<std::string> names_;
};

} // namespace kopt
