// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/Requirements.h"

#include <set>
#include <utility>
#include <vector>

namespace kopt {
namespace {

constexpr std::int64_t kFurthest = 4096; ///< a number is moved by at most this

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

} // namespace kopt
