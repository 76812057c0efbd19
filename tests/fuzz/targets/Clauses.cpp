// SPDX-License-Identifier: Apache-2.0
// Clauses of [[kopt::tune]], one a line, integer expressions of launch sites, and conditions of
// rules.
#include "driver/source/Expression.h"
#include "driver/source/TuneClauses.h"
#include "tests/fuzz/Fuzz.h"

#include <cmath>
#include <set>

using namespace kopt;
using kopt::fuzz::require;

namespace {

void clauses(std::string_view input) {
  std::vector<TuneClause> list;
  for (const std::string &line : kopt::fuzz::linesOf(input))
    list.push_back({line, "file.cu", unsigned(list.size() + 1)});
  const auto declaration = parseTuneDeclaration(list);
  if (!declaration) {
    require(declaration.error().where.rfind("file.cu:", 0) == 0,
            "an error names the clause's place");
    return;
  }
  for (const TunableParam &param : declaration->params) {
    require(!param.values.empty(), "a tunable has values");
    require(std::set(param.values.begin(), param.values.end()).size() == param.values.size(),
            "each value once");
  }
  for (const std::vector<std::string> *list :
       {&declaration->requirements, &declaration->block, &declaration->grid})
    for (const std::string &text : *list)
      require(namesIn(text).has_value(), "an accepted expression can be parsed again");
  for (const auto *map : {&declaration->arguments, &declaration->extents})
    for (const auto &[name, text] : *map)
      require(namesIn(text).has_value(), "an accepted expression can be parsed again");
  for (const auto &[name, fill] : declaration->fills)
    require(std::isfinite(fill.low) && std::isfinite(fill.high) && fill.low <= fill.high,
            "a fill has a range");
  for (const DeclaredLaunch &launch : declaration->launches)
    require(launch.weight > 0 && std::isfinite(launch.weight), "a weight is above 0");
  require(!declaration->target || *declaration->target > 1, "a target is a speedup");
}

void integers(const std::string &text) {
  const auto names = namesIn(text);
  Bindings values;
  if (names)
    for (const std::string &name : *names) {
      const auto again = namesIn(name);
      require(again && again->size() == 1 && again->front() == name,
              "a name is one name by itself");
      values[name] = values.size() % 2 ? -3 : 1000;
    }
  const auto value = evaluateExpression(text, values);
  require(names || !value, "what cannot be parsed has no value");
  if (!value)
    return;
  const auto wrapped = evaluateExpression("(" + text + ")", values);
  require(wrapped && *wrapped == *value, "parentheses around all change nothing");
}

void conditions(std::string_view text) {
  const auto expression = Expression::parseReal(text);
  if (!expression)
    return;
  const std::vector<double> values(expression->names().size(), 1.5);
  const auto value = expression->evaluateReal(values);
  require(!value || std::isfinite(*value), "a value is a finite number");
  const auto wrapped = Expression::parseReal("(" + std::string(text) + ")");
  if (!wrapped)
    return; // one level deeper than may be
  const auto again = wrapped->evaluateReal(values);
  require(value.has_value() == again.has_value() && (!value || *value == *again),
          "parentheses around all change nothing");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view input = kopt::fuzz::textOf(data, size);
  switch (kopt::fuzz::takeChoice(input, 3)) {
  case 0:
    clauses(input);
    break;
  case 1:
    integers(std::string(input));
    break;
  default:
    conditions(input);
  }
  return 0;
}
