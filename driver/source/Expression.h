// SPDX-License-Identifier: Apache-2.0
// The one expression language, in C syntax: operators, min, max, abs, ceil, floor and ceil_div
// calls, casts, sizeof of the basic types, and names such as "ns::kTile", "size.x", "v.size()" or
// "smsp__inst_executed.sum". It has two arithmetics: 64-bit signed integers for launch sites,
// clauses and requirements, and double precision for rules over counters.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

namespace expression {
struct Program;
}

using Bindings = std::map<std::string, std::int64_t>;

/// Parsed once, evaluated as often as wanted: evaluating over values by position looks nothing up
/// and allocates nothing unless it fails. Copies share the parsed program; threads may share one.
class Expression {
public:
  /// Fails with Usage on a syntax error, naming its column.
  static Result<Expression> parse(std::string_view text);
  /// For evaluateReal(). Fails with Usage as parse() does, and on what only integers have: ~, <<,
  /// >>,
  /// &, ^, | and ceil_div.
  static Result<Expression> parseReal(std::string_view text);

  /// The names that the text refers to, in order of first use, each once.
  const std::vector<std::string> &names() const;

  /// The value in 64-bit signed arithmetic, where `values` has one value a name, in the order of
  /// names(). Reals may occur on the way, as in ceil(n / 32.0f). Fails with Usage, naming the
  /// column: division by zero, overflow, or a value that is not a 64-bit integer.
  Result<std::int64_t> evaluate(std::span<const std::int64_t> values) const;
  /// The same with values by name. Fails with Usage listing all names that have no value.
  Result<std::int64_t> evaluate(const Bindings &bindings) const;

  /// The value of what parseReal() gave, in double precision throughout: 1 / 2 is 0.5, comparisons
  /// give 1 or 0. `values` as for evaluate(). Fails with Usage, naming the column: division by
  /// zero, or a result that is not finite.
  Result<double> evaluateReal(std::span<const double> values) const;

private:
  explicit Expression(std::shared_ptr<const expression::Program> program);

  std::shared_ptr<const expression::Program> program_;
};

/// Parses and evaluates an expression that is needed once. Fails with Usage as those do.
Result<std::int64_t> evaluateExpression(const std::string &text, const Bindings &names);

/// The names an expression refers to, in order of first use. Fails with Usage on a syntax error.
Result<std::vector<std::string>> namesIn(const std::string &text);

} // namespace kopt
