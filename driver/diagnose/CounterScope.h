// SPDX-License-Identifier: Apache-2.0
// Evaluates what files of knowledge/ say of counters: named values, conditions, and messages with
// figures.
#pragma once

#include "driver/diagnose/KnowledgeEntry.h"
#include "driver/model/Counters.h"
#include "driver/source/Expression.h"

#include <map>
#include <optional>

namespace kopt {

/// A named value: the first of its expressions whose metrics are all known is used.
struct CounterValue {
  std::string name;
  std::vector<Expression> alternatives;
};

/// A text with expressions in braces: "DRAM runs at {dram:0}%", with the digits after the point.
struct CounterMessage {
  struct Figure {
    Expression expression;
    int digits;
  };
  std::vector<std::string> literals; ///< literals[0] figures[0] literals[1] ... literals[n]
  std::vector<Figure> figures;
};

/// A condition over counters with the values that it names, and what to say where it holds.
struct CounterCondition {
  /// Reads the keys "values" (optional), "condition" and "finding".
  static Result<CounterCondition> read(const KnowledgeEntry &entry);

  Expression condition;
  CounterMessage finding;
  std::vector<CounterValue> values;
};

/// The key "values" of an entry.
Result<std::vector<CounterValue>> readValues(const KnowledgeEntry &entry);
Result<Expression> readExpression(const KnowledgeEntry &entry, const std::string &text);

/// Counters, and values that are defined over them and over each other.
class CounterScope {
public:
  explicit CounterScope(const Counters &counters) : counters_(counters) {}
  /// For a value without a result, remembers the first metric that was missing.
  void define(const std::vector<CounterValue> &values);
  /// The value, or the reason why there is none: "metric X is missing". Every name must have a
  /// value, even if the result does not depend on it.
  tl::expected<double, std::string> evaluate(const Expression &expression) const;
  tl::expected<std::string, std::string> render(const CounterMessage &message) const;
  /// The counters behind an expression, each once: those it names, and those of the alternatives
  /// that gave its values.
  std::vector<std::string> metricsOf(const Expression &expression) const;

private:
  using Pending = std::map<std::string, const CounterValue *>;
  /// After the values that it stands on.
  void define(std::string name, Pending &pending);
  std::optional<double> find(const std::string &name) const;

  const Counters &counters_;
  std::map<std::string, double> values_;
  std::map<std::string, std::vector<std::string>> metrics_; ///< behind each value
  std::map<std::string, std::string> missing_;
};

} // namespace kopt
