// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/CounterTable.h"

#include "driver/model/Json.h"
#include "driver/support/Text.h"
#include "knowledge/CounterFiles.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace kopt {
namespace {

struct KnownCounter {
  std::string name, label;
  std::optional<std::string> unit; ///< "bytes" or "percent"; nothing: a number
};
KOPT_FIELDS(KnownCounter, name, label, unit)

/// Those of knowledge/counters.json that are shown.
const std::vector<KnownCounter> &knownCounters() {
  static const auto known = [] {
    const auto document = nlohmann::json::parse(knowledge::counters::kFiles.front().second);
    return fromJson<std::vector<KnownCounter>>(document.at("shown")).value();
  }();
  return known;
}

std::optional<double> valueOf(const Counters &counters, const std::string &name) {
  auto found = counters.find(name);
  if (found == counters.end() || !std::isfinite(found->second))
    return std::nullopt;
  return found->second;
}

std::string show(std::optional<double> value, const std::string &unit) {
  if (!value)
    return "unknown";
  if (unit == "bytes")
    return formatBytes(*value);
  return formatNumber(*value) + (unit == "percent" ? "%" : "");
}

const KnownCounter *knownCounter(std::string_view name) {
  const auto found = std::ranges::find(knownCounters(), name, &KnownCounter::name);
  return found == knownCounters().end() ? nullptr : &*found;
}

} // namespace

std::vector<std::pair<std::string, std::string>> describeCounters(const Counters &counters) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const KnownCounter &counter : knownCounters()) {
    const std::optional<double> value = valueOf(counters, counter.name);
    if (value && !(counter.name.starts_with("sass__") && *value == 0))
      lines.emplace_back(counter.label, show(value, counter.unit.value_or("")));
  }
  return lines;
}

std::string labelOfCounter(const std::string &name) {
  const KnownCounter *known = knownCounter(name);
  return known ? known->label : name;
}

std::string counterOfLabel(const std::string &label) {
  std::string_view own = trim(label);
  if (own.starts_with("* ")) // a rule rests on it
    own = trim(own.substr(2));
  const auto found = std::ranges::find(knownCounters(), own, &KnownCounter::label);
  return found == knownCounters().end() ? std::string(own) : found->name;
}

std::string textOfCounter(const std::string &name, std::optional<double> value) {
  const KnownCounter *known = knownCounter(name);
  return show(value, known ? known->unit.value_or("") : "");
}

} // namespace kopt
