// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Experience.h"

#include "driver/model/Json.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"
#include "knowledge/SeedFiles.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt {

void Outcomes::add(std::optional<double> logGain, double duration) {
  const double bounded = std::clamp(logGain.value_or(0), -kMostLogGain, kMostLogGain);
  *this += {1, logGain.has_value(), bounded >= kLeastLogGain, bounded, bounded * bounded, duration};
}

Outcomes &Outcomes::operator+=(const Outcomes &other) {
  trials += other.trials;
  right += other.right;
  gained += other.gained;
  gain += other.gain;
  square += other.square;
  seconds += other.seconds;
  return *this;
}

Result<std::vector<TechniqueOutcomes>> seedOutcomes() {
  const auto seed = nlohmann::json::parse(knowledge::seed::kFiles.front().second);
  return fromJson<std::vector<TechniqueOutcomes>>(seed.at("outcomes"));
}

std::string idOf(const Experience &experience) { return hashHex(canonicalJson(experience)); }

std::string problemOf(const Experience &experience) {
  const auto &[kernel, state, proposer, technique, arch, toolchain, purpose, verdict, overParent,
               overBaseline, seconds, candidate, parent, from, variant, decidedBy] = experience;
  for (const std::string *text :
       {&kernel.name, &kernel.symbol, &kernel.text, &state, &proposer, &technique, &arch,
        &toolchain, &candidate, &parent, &from.run, &from.program, &from.kopt, &from.date})
    if (*text != withoutControls(validUtf8(*text)))
      return "a text with control characters";
  for (const std::optional<std::string> *text : {&variant, &decidedBy})
    if (*text && **text != withoutControls(validUtf8(**text)))
      return "a text with control characters";
  for (const auto &[name, text] : {std::pair("a technique", technique),
                                   {"an architecture", arch},
                                   {"a candidate", candidate},
                                   {"a run", from.run}})
    if (text.empty())
      return fmt::format("no name of {}", name);
  if (purpose == Purpose::HeldOut || verdict == Verdict::Suspect)
    return fmt::format("a trial for {} with the verdict {}", toString(purpose), toString(verdict));
  if (overParent.has_value() != overBaseline.has_value())
    return "one gain of two";
  for (const auto &gain : {overParent, overBaseline})
    if (gain && !(std::isfinite(gain->low) && std::isfinite(gain->high) &&
                  gain->low <= gain->estimate && gain->estimate <= gain->high))
      return fmt::format("a gain of {} between {} and {}", gain->estimate, gain->low, gain->high);
  return seconds >= 0 && std::isfinite(seconds) ? "" : fmt::format("a trial of {} s", seconds);
}

} // namespace kopt
