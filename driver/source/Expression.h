// SPDX-License-Identifier: Apache-2.0
// kopt's expression language, in C syntax: operators, calls of min, max, abs, ceil, floor and
// ceil_div, casts, sizeof of basic types, and names such as "ns::kTile", "size.x", "v.size()" or
// "smsp__inst_executed.sum". It has two arithmetics: 64-bit signed integers for launch sites,
// clauses and requirements, and double precision for rules over counters.
#pragma once

#include "driver/support/Result.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kopt {

namespace expression {
struct Node;
struct Parsed;
} // namespace expression

using Bindings = std::map<std::string, std::int64_t>;
using MixedNumber = std::variant<std::int64_t, double>;

/// A parsed expression that can be evaluated many times. Evaluation over values by position does no
/// look-ups and, unless it fails, no allocations. Copies share the parsed tree, and threads may use
/// the same one.
class Expression {
public:
  /// Fails with Usage on a syntax error, naming its column.
  static Result<Expression> parse(std::string_view text);
  /// Parses a text for evaluateReal(). Fails with Usage as parse() does, and on the operations that
  /// need integers: ~, <<, >>, &, ^, | and ceil_div.
  static Result<Expression> parseReal(std::string_view text);

  /// The names in the text, each once, in order of first use.
  const std::vector<std::string> &names() const;
  /// To print or to match (ExpressionTree.h).
  const expression::Node &tree() const;

  /// The value in 64-bit signed arithmetic. `values` has one value for each name, in the order of
  /// names(). Intermediate values may be floating-point, as in ceil(n / 32.0f). Fails with Usage,
  /// naming the column, on division by zero, on overflow, and on a value that is not a 64-bit
  /// integer.
  Result<std::int64_t> evaluate(std::span<const std::int64_t> values) const;
  /// The same with values by name. Also fails with Usage if names have no value, listing all of
  /// them.
  Result<std::int64_t> evaluate(const Bindings &bindings) const;

  /// The value of an expression from parseReal(), entirely in double precision: 1 / 2 is 0.5, and
  /// comparisons give 1 or 0. `values` as for evaluate(). Fails with Usage, naming the column, on
  /// division by zero and on a result that is not finite.
  Result<double> evaluateReal(std::span<const double> values) const;

  /// The value as in C, which need not be an integer: n / 2 is one, and n / 2.0 is not. `values` as
  /// for evaluate(). Fails as evaluate() and evaluateReal() do.
  Result<MixedNumber> evaluateMixed(std::span<const MixedNumber> values) const;

private:
  explicit Expression(std::shared_ptr<const expression::Parsed> parsed);

  std::shared_ptr<const expression::Parsed> parsed_;
};

/// Parses and evaluates an expression that is needed once. Fails with Usage as parse() and
/// evaluate() do.
Result<std::int64_t> evaluateExpression(const std::string &text, const Bindings &names);

/// The names in an expression, in order of first use. Fails with Usage on a syntax error.
Result<std::vector<std::string>> namesIn(const std::string &text);
/// True if the text is nothing but a name.
bool isName(const std::string &text);
/// The text as a part of any expression: in parentheses unless it is a number, a name or a call.
std::string asOperand(const std::string &text);
/// The expression with its names and other parts that are keys replaced by their texts; unchanged
/// if it does not parse.
std::string substituted(const std::string &text, const std::map<std::string, std::string> &texts);
std::array<std::string, 3> substituted(const std::array<std::string, 3> &axes,
                                       const std::map<std::string, std::string> &texts);

} // namespace kopt
