// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/HeldOut.h"

#include "driver/judge/Claim.h"

#include <fmt/format.h>
#include <set>

namespace kopt {

Result<Baseline> HeldOutJudge::baseline() {
  KOPT_TRY(Baseline baseline, inner_->baseline());
  workload_ = baseline.workload;
  return baseline;
}

/// The judge is kept from one confirmation to the next. It calls a candidate that it has judged
/// before a duplicate; then the earlier trial counts.
Result<Trial> HeldOutJudge::judgeHeldOut(const Candidate &candidate) {
  if (!onHeldOut_) {
    JudgeOptions options = options_;
    options.testAdequacy = false; // tested with the launches of the search
    options.counters = false;
    options.confirmsNext = false;
    options.ownLaunchesOnly = true; // so are the launches derived from those
    Workload workload = workload_;
    workload.launches = heldOut_;
    for (Launch &launch : workload.launches)
      launch.weight = 1.0 / double(workload.launches.size());
    KOPT_TRY(auto judge, makeJudge_(workload, options));
    KOPT_CHECK(judge->baseline());
    onHeldOut_ = std::move(judge);
  }
  KOPT_TRY(Trial trial, onHeldOut_->judge(candidate, Purpose::Search));
  if (trial.verdict == Verdict::Duplicate)
    for (const Trial &known : heldOutTrials_)
      if (known.candidateHash == trial.duplicateOf) {
        Trial same = known;
        same.candidate = trial.candidate;
        same.candidateHash = trial.candidateHash;
        trial = std::move(same);
        break;
      }
  trial.purpose = Purpose::HeldOut;
  heldOutTrials_.push_back(trial);
  return trial;
}

Result<Trial> HeldOutJudge::judge(const Candidate &candidate, Purpose purpose, Stage upTo) {
  KOPT_TRY(Trial trial, inner_->judge(candidate, purpose, upTo));
  if (upTo < Stage::Time || purpose != Purpose::Confirmation || trial.verdict != Verdict::Faster ||
      heldOut_.empty())
    return trial;
  KOPT_TRY(Trial other, judgeHeldOut(candidate));
  if (record_)
    KOPT_CHECK(record_(other));
  // The confirmation covers the gaps that concern the candidate's text and the kernel; take only
  // those that depend on launches.
  static const std::set<CheckId> kOfLaunches = {
      CheckId::Outputs,  CheckId::Fresh,     CheckId::Scalars, CheckId::Sizes,
      CheckId::Contents, CheckId::Alignment, CheckId::Repeat,  CheckId::Timed};
  for (const AssuranceGap &gap : other.assurance.gaps)
    if (kOfLaunches.contains(gap.check))
      addGap(trial.assurance, {gap.check, "on captured launches that were held out: " + gap.what});
  // Suspect counts as well: it is faster, and the checks that would prove more do not run here.
  if (other.verdict == Verdict::Faster || other.verdict == Verdict::Same ||
      other.verdict == Verdict::Ambiguous || other.verdict == Verdict::Suspect) {
    trial.findings.push_back(
        {"held-out", Severity::Note,
         fmt::format("{} captured launches that played no part in the search: {}", heldOut_.size(),
                     other.reason),
         ""});
    if (const auto failure = whyNotStrict(trial, trial.assurance);
        failure && options_.assurance == AssurancePolicy::Strict) {
      trial.verdict = failure->verdict;
      trial.check = failure->check;
      trial.reason = failure->reason;
    }
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
