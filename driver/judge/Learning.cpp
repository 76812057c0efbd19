// SPDX-License-Identifier: Apache-2.0
// What a DeviceJudge learns about the user's own kernel for its checks: some of it before the first
// candidate, and in a search most of it when the first winner appears.
#include "driver/judge/DeviceJudge.h"

#include "driver/judge/Strengthening.h"
#include "driver/source/SliceLines.h"
#include "driver/support/Log.h"

#include <fmt/format.h>

namespace kopt {

/// True if checks that run only for winners learn when the first winner appears.
bool DeviceJudge::waitsForWinner() const { return options_.depth <= Depth::Search; }

/// Lets the checks whose least depth is `depth` learn, once.
Status DeviceJudge::learnChecks(Depth depth, Trial &trial) {
  if (learned_ >= depth)
    return {};
  learned_ = depth;
  for (const std::unique_ptr<Check> &check : checks_) {
    if (check->from() != depth)
      continue;
    if (depth > Depth::Search && isLate()) {
      unlearned_.insert(check.get());
      continue;
    }
    const LoggedStage logged(fmt::format("learn {}", toString(check->id())));
    KOPT_CHECK(check->learn(context_, trial));
  }
  return {};
}

/// Learns, once, what the first winner needs.
Status DeviceJudge::learnForWinner(Trial &trial) {
  if (options_.ownLaunchesOnly)
    return {}; // they learn nothing
  if (learned_ < Depth::Trial) {
    const StageTimer timer(trial, "baseline/checks");
    KOPT_CHECK(learnChecks(Depth::Search, trial));
    KOPT_CHECK(replays_->learnAll(context_, trial, mostSeconds(GpuSeconds::kLearn)));
    KOPT_CHECK(learnChecks(Depth::Trial, trial));
  }
  return testMutants(trial);
}

AdequacySettings DeviceJudge::adequacySettings() const {
  AdequacySettings settings;
  settings.build = CandidateBuilder::baselineRequest(subject(), options_);
  settings.scratch = options_.scratch;
  settings.cache = options_.cache;
  settings.toolchain = toolchain_.name();
  settings.threads = std::max(1u, options_.buildThreads);
  if (!runner_.device().modelled && options_.assurance == AssurancePolicy::Standard)
    settings.mostSeconds = isLate() ? 0 : mostSeconds(options_.mutantSeconds);
  return settings;
}

/// Starts what the checks will compile of a version; false if nothing is compiled ahead.
bool DeviceJudge::compileChecksAhead(const std::shared_ptr<const Subject> &subject,
                                     const Candidate &version, bool isOriginal) {
  if (options_.buildThreads == 0)
    return false;
  if (!compilers_)
    compilers_ = std::make_unique<JobQueue>(options_.buildThreads);
  const auto shared = std::make_shared<const Candidate>(version);
  for (const std::unique_ptr<Check> &check : checks_)
    check->compileAhead({subject, shared, isOriginal, *compilers_});
  return true;
}

void DeviceJudge::compileMutantsAhead(const std::shared_ptr<const Subject> &subject) {
  if (options_.testAdequacy && options_.checks.on(CheckId::Mutants))
    kopt::compileMutantsAhead(subject, options_.seed, frontend_, toolchain_, adequacySettings(),
                              *compilers_);
}

void DeviceJudge::compileOriginalAhead() {
  const auto shared = std::make_shared<const Subject>(subject());
  if (!runner_.device().modelled && compileChecksAhead(shared, Candidate(), true))
    compileMutantsAhead(shared);
}

void DeviceJudge::compileAhead(const Subject &subject, const Candidate &candidate) {
  if (!waitsForWinner() && runner_.device().modelled)
    return;
  const auto shared = std::make_shared<const Subject>(subject);
  // For a trial, what concerns the original was learned with the baseline.
  const bool isFirst = waitsForWinner() && !compilers_;
  if (isFirst)
    compileChecksAhead(shared, Candidate(), true);
  if (compileChecksAhead(shared, candidate, false) && isFirst)
    compileMutantsAhead(shared);
}

/// Runs wrong versions of the kernel through the same checks: if one passes, the workload proves
/// little about a candidate.
Status DeviceJudge::testMutants(Trial &trial) {
  if (learned_ < Depth::Trial || !options_.checks.on(CheckId::Mutants) || !options_.testAdequacy ||
      std::exchange(hasTestedMutants_, true))
    return {};
  const LoggedStage logged("baseline: mutants");
  const StageTimer timer(trial, "baseline/mutants");
  auto report =
      testAdequacy(context_, checks_, *replays_, frontend_, toolchain_, adequacySettings());
  noteIncidents(trial);
  if (!report && report.error().code != ErrorCode::Internal)
    return tl::unexpected(report.error());
  if (!report) {
    trial.findings.push_back(
        {"mutants", Severity::Warning,
         "it is not known whether the workload notices wrong kernels: " + report.error().what,
         placeOf(subject().kernel)});
    return {};
  }
  KOPT_CHECK(takeMutations(*report));
  if (mutations_.survivors.empty() && mutations_.untried == 0)
    return {};
  // The cached report refers to lines of the slice; messages refer to the user's files as they are
  // now.
  for (AdequacyReport::Survivor &survivor : mutations_.survivors)
    survivor.title = inUserLines(subject().specialization, subject().sliceText, survivor.title);
  const std::string remedy = mutations_.remedy();
  trial.findings.push_back(
      {"mutants", mutations_.isConclusive() ? Severity::Note : Severity::Warning,
       mutations_.inWords() + (remedy.empty() ? "" : "; what would notice: " + remedy),
       placeOf(subject().kernel)});
  return {};
}

Status DeviceJudge::takeMutations(const AdequacyReport &report) {
  hasTestedMutants_ = true;
  mutations_ = report;
  for (const AdequacyReport::Addition &addition : report.additions) {
    KOPT_TRY(auto replay, remake(context_, *replays_, addition,
                                 fmt::format("derived-{}-{}", toString(addition.kind),
                                             replays_->replays().size())));
    if (replay)
      replays_->add(std::move(*replay));
  }
  return {};
}

} // namespace kopt
