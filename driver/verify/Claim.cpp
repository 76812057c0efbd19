// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/Claim.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace kopt {
namespace {

using Groups = std::vector<std::vector<std::string>>;

/// Flags of clang_plugin/screen, and what shows each of them harmless.
const std::map<std::string, Groups> &demands() {
  static const Groups kOrder = {{"schedule", "sanitizer"}, {"repeat"}};
  static const std::map<std::string, Groups> table = {
      {"atomic-removed", {{"schedule", "sanitizer"}, {"repeat"}, {"contents"}}},
      {"barrier-removed", kOrder},
      {"fence-removed", kOrder},
      {"volatile", kOrder},
      {"cache-hint", {{"repeat"}, {"fresh"}}},
      {"bounds-check", {{"sizes"}}},
      {"unused-parameter", {{"scalars", "sizes"}}},
      {"precision", {{"fresh"}, {"contents", "precise"}}},
      {"data-table", {{"fresh"}, {"contents", "scalars"}}},
      {"type-changed", {{"fresh"}, {"contents"}}},
      {"macro", {{"fresh"}}},
      {"shared-function", {{"fresh"}}},
      {"conditional", {{"fresh"}}},
      {"parse", {{"fresh"}, {"repeat"}}},
      {"assert", {{"contents"}}},
      {"trap", {{"contents"}}},
      {"sleep", {{"timed"}}},
      // Code for one architecture that the others do not have: nothing here runs on another one.
      {"arch-conditional", {{"other architectures"}}},
  };
  return table;
}

} // namespace

Groups layersDemandedBy(const Finding &finding) {
  const auto found = demands().find(finding.id);
  return found == demands().end() || finding.severity != "flag" ? Groups() : found->second;
}

std::optional<Failure> whyNoWin(const Trial &trial, const LayerSwitches &switches) {
  if (!switches.all())
    return Failure{"", Verdict::Suspect, fmt::format("not a verdict: layers off: {}; {}", switches.list(), trial.reason)};
  const auto passed = [&](const std::string &layer) {
    return std::any_of(trial.gates.begin(), trial.gates.end(), [&](const GateRecord &record) {
      return record.gate == layer && record.state == GateState::Passed;
    });
  };
  for (const Finding &finding : trial.findings)
    for (const std::vector<std::string> &group : layersDemandedBy(finding))
      if (std::none_of(group.begin(), group.end(), passed)) {
        std::string why;
        for (const GateRecord &record : trial.gates)
          if (std::find(group.begin(), group.end(), record.gate) != group.end() && !record.detail.empty())
            why += fmt::format(" ({}: {})", record.gate, record.detail);
        return Failure{"demands", Verdict::Suspect,
                       fmt::format("{}, but not proven: {}, and what would show it harmless did not run: {}{}", trial.reason,
                                   finding.message, join(group, " or "), why)};
      }
  return std::nullopt;
}

} // namespace kopt
