// SPDX-License-Identifier: Apache-2.0
// The counters that the rules and the states of knowledge/ read, sorted.
#pragma once

#include "driver/diagnose/CounterScope.h"
#include "knowledge/RuleFiles.h"
#include "knowledge/StateFiles.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace kopt::fakes {

/// Those of the entries; names of values are none.
inline std::vector<std::string> metricsOf(const std::vector<KnowledgeEntry> &entries) {
  std::set<std::string> names, defined;
  const auto add = [&](const Expression &expression) {
    names.insert(expression.names().begin(), expression.names().end());
  };
  for (const KnowledgeEntry &entry : entries) {
    const std::vector<CounterValue> values = readValues(entry).value();
    for (const CounterValue &value : values) {
      defined.insert(value.name);
      std::ranges::for_each(value.alternatives, add);
    }
    if (entry.object.contains("condition")) {
      const CounterCondition when = CounterCondition::read(entry).value();
      add(when.condition);
      for (const CounterMessage::Figure &figure : when.finding.figures)
        add(figure.expression);
    }
    const std::vector<std::string> evidence = entry.texts("evidence").value();
    for (const std::string &figure : evidence)
      add(readExpression(entry, figure).value());
  }
  for (const std::string &name : defined)
    names.erase(name);
  return {names.begin(), names.end()};
}

inline std::vector<std::string> metricsOfRules() {
  std::vector<KnowledgeEntry> all;
  for (const auto &[path, text] : knowledge::rules::kFiles) {
    const auto entries = readEntries(std::string(path), text, "rules").value();
    all.insert(all.end(), entries.begin(), entries.end());
  }
  return metricsOf(all);
}

inline std::vector<std::string> metricsOfStates() {
  const auto &[name, text] = knowledge::states::kFiles.front();
  std::vector<KnowledgeEntry> all = {{nlohmann::json::parse(text), std::string(name)}};
  for (const char *key : {"roofs", "states", "stops"}) {
    const auto entries = readEntries(std::string(name), text, key).value();
    all.insert(all.end(), entries.begin(), entries.end());
  }
  return metricsOf(all);
}

} // namespace kopt::fakes
