// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/PolicyBook.h"

#include "knowledge/PolicyFiles.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

Result<PolicyBook> PolicyBook::load() {
  const auto &[name, text] = knowledge::policy::kFiles.front();
  const std::string file = fmt::format("knowledge/{}", name);
  PolicyBook book;
  KOPT_TRY(const auto presets, readEntries(file, text, "presets"));
  for (const KnowledgeEntry &entry : presets) {
    auto settings = fromJson<PolicySettings>(entry.object);
    if (!settings)
      return entry.fault(settings.error().what);
    book.presets_.push_back(std::move(*settings));
  }
  KOPT_TRY(const auto gates, readEntries(file, text, "gates"));
  for (const KnowledgeEntry &entry : gates) {
    KOPT_CHECK(entry.checkKeys({"id", "condition", "finding", "set", "source"}));
    KOPT_TRY(std::string id, entry.text("id"));
    KOPT_CHECK(entry.text("source"));
    KOPT_TRY(CounterCondition when, CounterCondition::read(entry));
    nlohmann::json set = entry.object.value("set", nlohmann::json());
    if (const auto with = changed({}, set); !with)
      return entry.fault(with.error().what);
    book.gates_.push_back({std::move(id), std::move(when), std::move(set)});
  }
  return book;
}

const PolicySettings *PolicyBook::find(const std::string &preset) const {
  const auto found = std::ranges::find(presets_, preset, &PolicySettings::id);
  return found == presets_.end() ? nullptr : &*found;
}

const PolicyGate *firstOf(const std::vector<PolicyGate> &gates, const Counters &signals) {
  const CounterScope scope(signals);
  const auto found = std::ranges::find_if(gates, [&](const PolicyGate &gate) {
    return scope.evaluate(gate.when.condition).value_or(0) != 0;
  });
  return found == gates.end() ? nullptr : &*found;
}

std::string inWords(const PolicySettings &settings) {
  return fmt::format("{}: width {}, {} the baseline, families {}, prior weight {}, explore {}, "
                     "recommended {}, only {}, gates {}",
                     settings.what, settings.width, settings.baseline ? "with" : "without",
                     settings.families ? "on" : "off", settings.priorWeight, settings.explore,
                     settings.recommended, toString(settings.only), settings.gates ? "on" : "off");
}

Result<PolicySettings> changed(const PolicySettings &settings, const nlohmann::json &set) {
  nlohmann::json json = toJson(settings);
  if (set.is_object())
    json.update(set);
  return fromJson<PolicySettings>(json);
}

} // namespace kopt
