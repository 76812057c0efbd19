// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/Requirements.h"

#include "driver/source/ExpressionTree.h"

#include <set>

namespace kopt {
namespace {

constexpr std::int64_t kFurthest = 4096; ///< a number is moved by at most this

void addNumbers(const expression::Node &node, std::set<std::int64_t> &found) {
  if (node.code == expression::Code::Integer)
    found.insert(node.integer);
  for (const expression::Node &part : node.parts)
    addNumbers(part, found);
}

} // namespace

bool Requirements::holds(const std::string &text, const Bindings &bindings) const {
  const auto expression = Expression::parse(text);
  if (!expression)
    return true;
  std::vector<MixedNumber> values;
  for (const std::string &name : expression->names())
    if (const auto real = reals_.find(name); real != reals_.end())
      values.push_back(real->second);
    else if (const auto bound = bindings.find(name); bound != bindings.end())
      values.push_back(bound->second);
    else
      return true;
  const auto result = expression->evaluateMixed(values);
  return !result || std::visit([](auto number) { return number != 0; }, *result);
}

std::optional<std::string> Requirements::broken(const Bindings &bindings) const {
  for (const std::string &text : texts_)
    if (!holds(text, bindings))
      return text;
  return std::nullopt;
}

std::map<std::string, std::int64_t>
Requirements::moved(std::map<std::string, std::int64_t> values,
                    const std::map<std::string, std::int64_t> &base, const Bindings &known) const {
  const auto original = values;
  Bindings bindings = known;
  for (const auto &[name, value] : values)
    bindings[name] = value;
  std::set<std::string> settled; // each number is moved once
  while (const auto text = broken(bindings)) {
    // The nearest number with which all requirements hold, or otherwise the one with which `text`
    // holds.
    std::optional<std::pair<std::string, std::int64_t>> all, one;
    for (const std::string &name : namesIn(*text).value_or(std::vector<std::string>())) {
      if (!values.contains(name) || settled.contains(name))
        continue;
      const std::int64_t from = values[name];
      const auto was = base.find(name);
      const bool up = from <= 1 || (was != base.end() && from > was->second);
      for (const std::int64_t sign : {up ? 1 : -1, up ? -1 : 1})
        for (std::int64_t step = 1; step <= kFurthest && !all && from + sign * step >= 0; ++step) {
          bindings[name] = from + sign * step;
          if (!holds(*text, bindings))
            continue;
          if (!one)
            one = {name, bindings[name]};
          if (!broken(bindings))
            all = {name, bindings[name]};
        }
      bindings[name] = from;
    }
    const auto &chosen = all ? all : one;
    if (!chosen)
      return original;
    values[chosen->first] = bindings[chosen->first] = chosen->second;
    settled.insert(chosen->first);
  }
  return values;
}

std::vector<std::pair<std::string, std::int64_t>>
Requirements::ends(const std::map<std::string, std::int64_t> &values, const Bindings &known) const {
  Bindings bindings = known;
  for (const auto &[name, value] : values)
    bindings[name] = value;
  std::set<std::pair<std::string, std::int64_t>> found;
  for (const std::string &text : texts_) {
    const auto expression = Expression::parse(text);
    if (!expression)
      continue;
    const std::vector<std::string> &names = expression->names();
    std::set<std::int64_t> limits;
    addNumbers(expression->tree(), limits);
    for (const std::string &name : names)
      if (const auto bound = bindings.find(name); bound != bindings.end())
        limits.insert(bound->second);
    for (const std::string &name : names) {
      const auto value = values.find(name);
      const auto allows = [&](std::int64_t number) {
        bindings[name] = number;
        return !broken(bindings);
      };
      for (const std::int64_t limit : value == values.end() ? std::set<std::int64_t>() : limits)
        for (const std::int64_t end : {limit - 1, limit, limit + 1})
          if (end != value->second && allows(end) && !(allows(end - 1) && allows(end + 1)))
            found.emplace(name, end);
      if (value != values.end())
        bindings[name] = value->second;
    }
  }
  return {found.begin(), found.end()};
}

} // namespace kopt
