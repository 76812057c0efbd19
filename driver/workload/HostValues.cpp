// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/HostValues.h"

#include <algorithm>
#include <optional>

namespace kopt {
namespace {

constexpr int kMostBits = 40;

/// An expression of one unknown name.
class OfOneName {
public:
  OfOneName(const Expression &expression, std::string name, Bindings values)
      : expression_(expression), name_(std::move(name)), values_(std::move(values)) {}

  /// The values from 1 to 2^kMostBits that give the number; nothing if the expression is not known
  /// to grow with the name, or if there are none.
  std::optional<HostRange> with(std::int64_t number) {
    std::int64_t last = 0;
    for (int bit = 0; bit <= kMostBits; ++bit) {
      const auto value = at(std::int64_t(1) << bit);
      if (!value || (bit > 0 && *value < last))
        return std::nullopt;
      last = *value;
    }
    const auto least = first([&](std::int64_t value) { return value >= number; });
    const auto after = first([&](std::int64_t value) { return value > number; });
    if (!least || !after || *least == *after)
      return std::nullopt;
    return HostRange{*least, *after - 1};
  }

private:
  std::optional<std::int64_t> at(std::int64_t value) {
    values_[name_] = value;
    const auto result = expression_.evaluate(values_);
    return result ? std::optional(*result) : std::nullopt;
  }

  template <class Holds> std::optional<std::int64_t> first(Holds holds) {
    std::int64_t low = 1, high = std::int64_t(1) << kMostBits;
    if (const auto value = at(high); !value || !holds(*value))
      return std::nullopt;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const auto value = at(middle);
      if (!value)
        return std::nullopt;
      if (holds(*value))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  const Expression &expression_;
  std::string name_;
  Bindings values_;
};

/// The names that are the only unknown one of an expression.
std::map<std::string, HostRange>
rangesOf(const std::vector<std::pair<std::string, std::int64_t>> &known, const Bindings &values) {
  std::map<std::string, HostRange> ranges;
  for (const auto &[text, number] : known) {
    const auto expression = Expression::parse(text);
    if (!expression)
      continue;
    std::vector<std::string> unknown;
    std::ranges::copy_if(expression->names(), std::back_inserter(unknown),
                         [&](const std::string &name) { return !values.contains(name); });
    if (unknown.size() != 1)
      continue;
    const HostRange found =
        OfOneName(*expression, unknown[0], values).with(number).value_or(HostRange());
    const auto [at, isNew] = ranges.try_emplace(unknown[0], found);
    if (!isNew)
      at->second = {std::max(at->second.least, found.least), std::min(at->second.most, found.most)};
  }
  std::erase_if(ranges, [](const auto &one) { return one.second.least > one.second.most; });
  return ranges;
}

} // namespace

std::map<std::string, HostRange>
hostRanges(const std::vector<std::pair<std::string, std::int64_t>> &known, Bindings values) {
  std::map<std::string, HostRange> found;
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (const auto &[name, range] : rangesOf(known, values)) {
      found[name] = range;
      if (range.least == range.most) // others may follow from it
        isNew |= values.emplace(name, range.least).second;
    }
  }
  return found;
}

} // namespace kopt
