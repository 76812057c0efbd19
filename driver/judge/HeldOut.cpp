// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/HeldOut.h"

#include <fmt/format.h>

namespace kopt {

Status judgeHeldOut(const MakeJudge &makeJudge, Workload workload, std::vector<Launch> heldOut,
                    JudgeOptions options, Trial &trial) {
  options.testAdequacy = false; // tested with the launches that chose the candidate
  workload.launches = std::move(heldOut);
  for (Launch &launch : workload.launches)
    launch.weight = 1.0 / double(workload.launches.size());
  KOPT_TRY(const auto judge, makeJudge(workload, options));
  KOPT_CHECK(judge->measureBaseline());
  KOPT_TRY(const Trial other, judge->evaluate(trial.candidate));
  const bool holds = other.verdict == Verdict::Faster || other.verdict == Verdict::Same ||
                     other.verdict == Verdict::Ambiguous;
  if (holds) {
    trial.findings.push_back({"held-out", Severity::Note,
                              fmt::format("{} captured launches that chose nothing: {}",
                                          workload.launches.size(), other.reason),
                              ""});
    return {};
  }
  trial.verdict = other.verdict;
  trial.stage = other.stage;
  trial.reason = "on captured launches that were held out: " + other.reason;
  trial.speedup = other.speedup;
  trial.timings = other.timings;
  return {};
}

} // namespace kopt
