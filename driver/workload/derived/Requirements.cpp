// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/Requirements.h"

#include <set>
#include <utility>

namespace kopt {
namespace {

constexpr std::int64_t kFurthest = 4096; ///< a number is moved by at most this

bool holds(const std::string &text, const Bindings &bindings) {
  const auto value = evaluateExpression(text, bindings);
  return !value || *value != 0;
}

} // namespace

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
