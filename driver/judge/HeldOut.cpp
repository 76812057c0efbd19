// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/HeldOut.h"

#include <fmt/format.h>

namespace kopt {

Result<Baseline> HeldOutJudge::baseline() {
  KOPT_TRY(Baseline baseline, inner_->baseline());
  workload_ = baseline.workload;
  return baseline;
}

Result<Trial> HeldOutJudge::judge(const Candidate &candidate, Purpose purpose) {
  KOPT_TRY(Trial trial, inner_->judge(candidate, purpose));
  if (purpose != Purpose::Confirmation || trial.verdict != Verdict::Faster || heldOut_.empty())
    return trial;
  JudgeOptions options = options_;
  options.testAdequacy = false; // tested with the launches that chose the candidate
  Workload workload = workload_;
  workload.launches = heldOut_;
  for (Launch &launch : workload.launches)
    launch.weight = 1.0 / double(workload.launches.size());
  KOPT_TRY(const auto judge, makeJudge_(workload, options));
  KOPT_CHECK(judge->baseline());
  KOPT_TRY(const Trial other, judge->judge(candidate, Purpose::Search));
  if (other.verdict == Verdict::Faster || other.verdict == Verdict::Same ||
      other.verdict == Verdict::Ambiguous) {
    trial.findings.push_back({"held-out", Severity::Note,
                              fmt::format("{} captured launches that chose nothing: {}",
                                          workload.launches.size(), other.reason),
                              ""});
    return trial;
  }
  trial.verdict = other.verdict;
  trial.stage = other.stage;
  trial.reason = "on captured launches that were held out: " + other.reason;
  trial.speedup = other.speedup;
  trial.timings = other.timings;
  return trial;
}

} // namespace kopt
