// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/DeclaredReals.h"

#include <cstdlib>
#include <vector>

namespace kopt {
namespace {

constexpr int kDeepest = 16; ///< clauses that refer to each other, maybe in a circle

} // namespace

std::optional<double> DeclaredReals::real(const std::optional<MixedNumber> &number) {
  if (!number)
    return std::nullopt;
  return std::visit([](auto value) { return double(value); }, *number);
}

std::optional<MixedNumber> DeclaredReals::of(const std::string &name, int depth) const {
  if (const auto launched = launched_.find(name); launched != launched_.end())
    return launched->second;
  const auto declared = declaration_.arguments.find(name);
  return declared == declaration_.arguments.end() ? std::nullopt
                                                  : evaluate(declared->second, depth);
}

std::optional<MixedNumber> DeclaredReals::evaluate(const std::string &text, int depth) const {
  const auto expression = Expression::parse(text);
  if (!expression) { // "-1e300" and the like, which are no expressions
    char *end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == '\0' ? std::optional<MixedNumber>(number) : std::nullopt;
  }
  if (depth == kDeepest)
    return std::nullopt;
  std::vector<MixedNumber> values;
  for (const std::string &name : expression->names()) {
    std::optional<MixedNumber> value = of(name, depth + 1);
    if (const auto bound = bindings_.find(name); !value && bound != bindings_.end())
      value = bound->second;
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  const auto result = expression->evaluateMixed(values);
  return result ? std::optional(*result) : std::nullopt;
}

} // namespace kopt
