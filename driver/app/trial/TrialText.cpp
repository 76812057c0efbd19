// SPDX-License-Identifier: Apache-2.0
#include "driver/app/trial/TrialText.h"

#include "driver/model/Json.h"

#include <fmt/format.h>

namespace kopt {

Style styleOf(Verdict verdict) {
  if (verdict == Verdict::Faster)
    return Style::Green;
  return severityOf(verdict) > severityOf(Verdict::Slower) ? Style::Red : Style::Yellow;
}

nlohmann::json toJson(const TrialOutcome &outcome) {
  const Trial &trial = outcome.trial;
  nlohmann::json object{
      {"kernel", outcome.label},
      {"verdict", toString(trial.verdict)},
      {"stage", toString(trial.stage)},
      {"reason", trial.reason},
      {"device", outcome.device.name},
      {"modelled", outcome.device.modelled},
      {"build_log", trial.buildLog},
      {"speedup", toJson(trial.speedup)},
      {"counters", trial.counters},
      {"check", toString(trial.check)},
      {"checks", toJson(trial.checks)},
      {"assurance", toJson(trial.assurance)},
      {"findings", toJson(trial.findings)},
      {"seconds", trial.seconds},
      {"stages", trial.stages},
      {"baseline", {{"seconds", outcome.baseline.seconds}, {"stages", outcome.baseline.stages}}},
      {"sandbox", toJson(outcome.sandbox)}};
  if (outcome.repaired)
    object["repaired"] = {{"title", outcome.repaired->candidate.title},
                          {"verdict", toString(outcome.repaired->verdict)},
                          {"reason", outcome.repaired->reason},
                          {"speedup", toJson(outcome.repaired->speedup)},
                          {"assurance", toJson(outcome.repaired->assurance)},
                          {"patch", outcome.repairPatch}};
  return object;
}

std::string inText(const TrialOutcome &outcome, const Terminal *out) {
  const Trial &trial = outcome.trial;
  const auto verdictOf = [&](const Trial &of) {
    return out ? out->paint(styleOf(of.verdict), toString(of.verdict)) : toString(of.verdict);
  };
  const std::string by =
      trial.check == CheckId::None ? "" : std::string(", ") + toString(trial.check);
  std::string text = fmt::format("{}: {} (decided by {}{})\n  {}\n", outcome.label,
                                 verdictOf(trial), toString(trial.stage), by, trial.reason);
  if (!trial.checks.empty())
    text += fmt::format("  assurance: {}\n", toString(trial.assurance.level));
  for (const std::string &gap : inLines(trial.assurance))
    if (!trial.checks.empty())
      text += fmt::format("  not shown: {}\n", gap);
  for (const Finding &finding : trial.findings)
    text +=
        fmt::format("  {}: {} {}\n", toString(finding.severity), finding.message, finding.where);
  if (trial.verdict == Verdict::BuildFailed)
    text += trial.buildLog + "\n";
  if (outcome.repaired)
    text += fmt::format("  repaired: {}: {}\n    {}\n    its patch is in --json\n",
                        outcome.repaired->candidate.title, verdictOf(*outcome.repaired),
                        outcome.repaired->reason);
  return text;
}

} // namespace kopt
