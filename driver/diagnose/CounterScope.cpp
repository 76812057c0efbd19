// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/CounterScope.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

Result<CounterMessage> parseMessage(const KnowledgeEntry &entry, const std::string &text) {
  CounterMessage message;
  std::size_t at = 0;
  for (;;) {
    std::size_t open = text.find('{', at);
    message.literals.push_back(text.substr(at, open - at));
    if (open == std::string::npos)
      return message;
    std::size_t close = text.find('}', open);
    if (close == std::string::npos)
      return entry.fault("a '{' has no '}'");
    std::string inner = text.substr(open + 1, close - open - 1);
    int decimals = 0;
    if (std::size_t colon = inner.rfind(':'); colon != std::string::npos) {
      std::string digits = inner.substr(colon + 1);
      if (digits.size() != 1 || digits[0] < '0' || digits[0] > '9')
        return entry.fault(fmt::format("'{}' after ':' is not a number of digits 0 to 9", digits));
      decimals = digits[0] - '0';
      inner.resize(colon);
    }
    KOPT_TRY(Expression expression, readExpression(entry, inner));
    message.figures.push_back({std::move(expression), decimals});
    at = close + 1;
  }
}

} // namespace

Result<Expression> readExpression(const KnowledgeEntry &entry, const std::string &text) {
  auto expression = Expression::parseReal(text);
  if (!expression)
    return entry.fault(fmt::format("in \"{}\": {}", text, expression.error().what));
  return expression;
}

Result<std::vector<CounterValue>> readValues(const KnowledgeEntry &entry) {
  std::vector<CounterValue> values;
  const auto found = entry.object.find("values");
  if (found == entry.object.end())
    return values;
  if (!found->is_object())
    return entry.fault("key \"values\" is not an object");
  const KnowledgeEntry inner{*found, entry.where + "/values"};
  for (const auto &[name, expressions] : found->items()) {
    CounterValue value{name, {}};
    KOPT_TRY(const auto texts, inner.texts(name.c_str()));
    for (const std::string &text : texts) {
      KOPT_TRY(Expression expression, readExpression(inner, text));
      value.alternatives.push_back(std::move(expression));
    }
    if (value.alternatives.empty())
      return inner.fault(fmt::format("value \"{}\" has no expression", name));
    values.push_back(std::move(value));
  }
  return values;
}

Result<CounterCondition> CounterCondition::read(const KnowledgeEntry &entry) {
  KOPT_TRY(const std::string text, entry.text("condition"));
  KOPT_TRY(Expression condition, readExpression(entry, text));
  KOPT_TRY(const std::string finding, entry.text("finding"));
  KOPT_TRY(CounterMessage message, parseMessage(entry, finding));
  KOPT_TRY(std::vector<CounterValue> values, readValues(entry));
  return CounterCondition{std::move(condition), std::move(message), std::move(values)};
}

void CounterScope::define(const std::vector<CounterValue> &values) {
  std::map<std::string, const CounterValue *> pending;
  for (const CounterValue &value : values)
    pending[value.name] = &value;
  while (!pending.empty())
    define(pending.begin()->first, pending);
}

void CounterScope::define(std::string name, Pending &pending) {
  const CounterValue &value = *pending.at(name);
  pending.erase(name);
  for (const Expression &alternative : value.alternatives) {
    for (const std::string &other : alternative.names())
      if (pending.contains(other))
        define(other, pending);
    const auto result = evaluate(alternative);
    if (result) {
      values_[name] = *result;
      metrics_[name] = metricsOf(alternative);
      missing_.erase(name);
      return;
    }
    missing_.emplace(name, result.error());
  }
}

std::optional<double> CounterScope::find(const std::string &name) const {
  if (const auto value = values_.find(name); value != values_.end())
    return value->second;
  if (const auto counter = counters_.find(name); counter != counters_.end())
    return counter->second;
  return std::nullopt;
}

tl::expected<double, std::string> CounterScope::evaluate(const Expression &expression) const {
  std::vector<double> values;
  for (const std::string &name : expression.names()) {
    if (const auto reason = missing_.find(name); reason != missing_.end())
      return tl::unexpected(reason->second);
    const std::optional<double> value = find(name);
    if (!value)
      return tl::unexpected(fmt::format("metric {} is missing", name));
    if (!std::isfinite(*value))
      return tl::unexpected(fmt::format("metric {} is not a finite number", name));
    values.push_back(*value);
  }
  const auto result = expression.evaluateReal(values);
  if (!result)
    return tl::unexpected(result.error().what);
  return *result;
}

tl::expected<std::string, std::string> CounterScope::render(const CounterMessage &message) const {
  std::string text = message.literals.front();
  for (std::size_t i = 0; i < message.figures.size(); ++i) {
    const auto value = evaluate(message.figures[i].expression);
    if (!value)
      return tl::unexpected<std::string>(value.error());
    text += fmt::format("{:.{}f}", *value, message.figures[i].digits);
    text += message.literals[i + 1];
  }
  return text;
}

std::vector<std::string> CounterScope::metricsOf(const Expression &expression) const {
  std::vector<std::string> metrics;
  const auto add = [&](const std::string &name) {
    if (std::ranges::find(metrics, name) == metrics.end())
      metrics.push_back(name);
  };
  for (const std::string &name : expression.names())
    if (const auto used = metrics_.find(name); used != metrics_.end())
      std::ranges::for_each(used->second, add);
    else
      add(name);
  return metrics;
}

} // namespace kopt
