// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/Verifier.h"

#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/Claim.h"
#include "driver/support/Log.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace kopt {

Verifier::Verifier(JudgeBench &bench, std::unique_ptr<Emulation> emulation)
    : bench_(bench), emulation_(std::move(emulation)),
      replays_(
          std::make_shared<DerivedReplays>(bench.options.mostDerived, bench.options.assurance)),
      checks_(makeChecks(bench.options.checks,
                         {bench.frontend, bench.toolchain,
                          CandidateBuilder::baselineRequest(bench.subject(), bench.options.arch),
                          bench.options.scratch, emulation_.get(), bench.options.assurance,
                          bench.isModelled()},
                         replays_)) {
  if (!bench.options.ownLaunchesOnly)
    return;
  const auto others = std::ranges::stable_partition(checks_, [](const auto &check) {
    return check->id() == CheckId::Outputs || check->id() == CheckId::Fresh;
  });
  std::ranges::move(others, std::back_inserter(unasked_));
  checks_.erase(others.begin(), others.end());
}

/// Lets the checks whose least depth is `depth` learn, once.
Status Verifier::learnChecks(Depth depth, Trial &trial) {
  if (learned_ >= depth)
    return {};
  learned_ = depth;
  for (const std::unique_ptr<Check> &check : checks_) {
    if (check->from() != depth)
      continue;
    if (depth > Depth::Search && bench_.left.isOver()) {
      unlearned_.insert(check.get());
      continue;
    }
    const LoggedStage logged(fmt::format("learn {}", toString(check->id())));
    KOPT_CHECK(check->learn(bench_.context, trial));
  }
  return {};
}

Status Verifier::learn(Depth depth, Trial &trial) {
  if (bench_.options.ownLaunchesOnly)
    return {}; // they learn nothing
  KOPT_CHECK(learnChecks(Depth::Search, trial));
  if (depth <= Depth::Search || hasLearnedForWinners())
    return {};
  KOPT_CHECK(replays_->learnAll(bench_.context, trial, bench_.left.forStep(GpuSeconds::kLearn)));
  return learnChecks(Depth::Trial, trial);
}

bool Verifier::hasNoTime(const Check &check, const Trial &trial) const {
  return check.from() > Depth::Search && (unlearned_.contains(&check) || bench_.left.isOver()) &&
         !isDemanded(trial, check.id());
}

Result<bool> Verifier::verify(Examination examination) {
  if (examination.trial.check == CheckId::None)
    examination.trial.stage = Stage::Verify;
  for (const std::unique_ptr<Check> &check : checks_) {
    if (examination.depth < check->from() || hasNoTime(*check, examination.trial))
      continue;
    if (unlearned_.erase(check.get()) > 0)
      KOPT_CHECK(check->learn(bench_.context, examination.trial));
    check->begin(bench_.context, examination);
  }
  const Result<bool> passed = runChecks(examination);
  for (const std::unique_ptr<Check> &check : checks_)
    check->end();
  return passed;
}

Result<bool> Verifier::runChecks(Examination &examination) {
  const Depth depth = examination.depth;
  Trial &trial = examination.trial;
  for (const std::unique_ptr<Check> &check : checks_) {
    CheckRecord record{check->id(), CheckState::Passed, ""};
    if (depth >= check->from() && hasNoTime(*check, trial)) {
      trial.checks.push_back({check->id(), CheckState::NotRun, TimeLeft::kOver});
      continue;
    }
    std::optional<LoggedStage> logged;
    if (depth > Depth::Search)
      logged.emplace(fmt::format("check {}", toString(check->id())));
    KOPT_TRY(const std::optional<Failure> failure,
             check->check(bench_.context, examination, record));
    if (!failure) {
      trial.checks.push_back(std::move(record));
      continue;
    }
    refuse(*failure, trial);
    if (!bench_.options.keepGoing)
      return false;
  }
  return trial.check == CheckId::None;
}

void Verifier::forget(Trial &trial) const {
  std::erase_if(trial.checks, [&](const CheckRecord &record) {
    return std::ranges::find(checks_, record.check, &Check::id) != checks_.end();
  });
}

bool Verifier::compileAhead(const std::shared_ptr<const Subject> &subject,
                            std::shared_ptr<const RenderedCandidate> version, bool isOriginal) {
  if (bench_.options.buildThreads == 0)
    return false;
  if (!compilers_)
    compilers_ = std::make_unique<JobQueue>(bench_.options.buildThreads);
  for (const std::unique_ptr<Check> &check : checks_)
    check->compileAhead({subject, version, isOriginal, *compilers_});
  return true;
}

} // namespace kopt
