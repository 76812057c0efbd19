// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/context/CheckContext.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>

namespace kopt {

/// On the emulated device the deadline only ends launches that retire no instructions; the
/// instruction limit ends all others.
constexpr Duration kModelledDeadline{10};

/// Instructions of a thread that has nothing to do: it computes its index, tests it, and waits at a
/// few barriers. The total over all threads is capped at about two seconds' worth, because a hang
/// runs for that long.
constexpr std::uint64_t kIdleInstructions = 256, kMostIdle = 400'000'000;

/// A candidate's run may take so many times the baseline's run, and some seconds. Research on
/// hanging candidates puts slow but correct ones well within 20 times the baseline.
constexpr double kCandidateRuns = 20;
/// The seconds that a launch of the baseline may take beyond kTriedRuns times what it should.
constexpr double kTriedSeconds = 1, kTriedRuns = 4;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

StageTimer::StageTimer(Trial &trial, std::string stage)
    : trial_(trial), stage_(std::move(stage)), start_(std::chrono::steady_clock::now()) {}
StageTimer::~StageTimer() { trial_.stages[stage_] += secondsSince(start_); }

void addStages(Trial &trial, const std::string &part, double wall, const StageSeconds &stages) {
  for (const auto &[name, seconds] : stages) {
    trial.stages[name == "lock" ? name : part + "/" + name] += seconds;
    wall -= seconds;
  }
  trial.stages[part + "/other"] += std::max(0.0, wall);
}

Failure failureOf(RunStatus status, CheckId check, std::string reason) {
  switch (status) {
  case RunStatus::TimedOut:
    return {check, Verdict::TimedOut, std::move(reason), status};
  case RunStatus::GuardTouched:
    return {CheckId::Guards, Verdict::WrongResult, std::move(reason), status};
  case RunStatus::InputChanged:
    return {CheckId::Inputs, Verdict::WrongResult, std::move(reason), status};
  case RunStatus::Uninitialised:
  case RunStatus::UnsetShared:
    return {check, Verdict::WrongResult, std::move(reason), status};
  case RunStatus::Race:
    return {CheckId::Races, Verdict::RunFailed, std::move(reason), status};
  default:
    return {check, Verdict::RunFailed, std::move(reason), status};
  }
}

void refuse(const Failure &failure, Trial &trial) {
  trial.checks.push_back({failure.check, CheckState::Failed, failure.reason});
  if (trial.check != CheckId::None)
    return;
  trial.check = failure.check;
  trial.verdict = failure.verdict;
  trial.reason = failure.reason;
}

CheckContext::CheckContext(Runner &runner, Subject subject, std::uint64_t seed,
                           CheckSwitches switches)
    : runner_(runner), subject_(std::move(subject)), seed_(seed), switches_(std::move(switches)),
      slots_([] {
        static std::atomic<unsigned> contexts = 0;
        return fmt::format("_{}", contexts++);
      }()) {}

RunOptions CheckContext::options(std::uint64_t inputSeed, std::uint64_t poisonSeed,
                                 std::size_t index, std::string slot) const {
  RunOptions options;
  options.inputSeed = inputSeed;
  options.poisonSeed = poisonSeed;
  options.slot = slot + slots_;
  options.skip = switches_.runnerChecks();
  options.checkRaces = switches_.on(CheckId::Races) && !racesItself;
  options.checkAcrossBlocks = blocksAreApart;
  const double baseline = index < baselineSeconds.size() ? baselineSeconds[index] : 0;
  options.deadline = Duration(baseline > 0 ? std::max(2.0, kCandidateRuns * baseline) : 120.0);
  if (runner_.device().modelled) {
    // The instruction limit ends a hang at the same point each time; the clock only catches
    // launches that retire no instructions.
    options.instructionLimit = index < instructionLimits.size() ? instructionLimits[index] : 0;
    options.deadline = std::max(options.deadline, kModelledDeadline);
  }
  return options;
}

RunOptions CheckContext::forTrying(RunOptions options, double usual) const {
  if (runner_.device().modelled || usual <= 0)
    return options;
  options.limit = Duration(kTriedSeconds + kTriedRuns * usual);
  return options;
}

RunOptions CheckContext::forCandidate(RunOptions options, const Launch &own) const {
  if (options.instructionLimit != 0)
    options.instructionLimit +=
        std::min(kMostIdle, kIdleInstructions * own.grid.count() * own.block.count());
  return options;
}

std::size_t CheckContext::heaviest() const {
  const std::vector<Launch> &launches = baseline_.launches;
  return std::size_t(
      std::max_element(launches.begin(), launches.end(),
                       [](const Launch &a, const Launch &b) { return a.weight < b.weight; }) -
      launches.begin());
}

Result<tl::expected<Expected, Unfinished>> CheckContext::tryExpect(const Launch &launch,
                                                                   const RunOptions &options) {
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(RunOutcome outcome, runner_.run(baseline_.module, launch, options));
  waitedSeconds += waitedIn(outcome.stages);
  using Answer = tl::expected<Expected, Unfinished>;
  if (outcome.status != RunStatus::Ok)
    return Answer(tl::unexpected(Unfinished{outcome.status, outcome.detail}));
  return Answer(Expected{options.inputSeed, options.jitter, std::move(outcome.buffers),
                         std::move(outcome.unwritten), std::move(outcome.digest), outcome.isKnown,
                         secondsSince(start), std::move(outcome.stages)});
}

Result<Expected> CheckContext::expect(const Launch &launch, const RunOptions &options) {
  KOPT_TRY(auto answer, tryExpect(launch, options));
  if (!answer)
    return makeError(ErrorCode::BaselineFailed,
                     fmt::format("kernel '{}' fails in launch '{}': {}", subject_.kernel.name,
                                 launch.name, answer.error().what),
                     "check the extents, arguments and fills of this launch against what the "
                     "kernel reads and writes",
                     placeOf(subject_.kernel));
  return std::move(*answer);
}

Result<RunOutcome> CheckContext::runCandidate(ModuleId module, const Launch &launch,
                                              const RunOptions &options, Trial &trial) {
  KOPT_TRY(RunOutcome outcome, runner_.run(module, launch, options));
  if (outcome.status != RunStatus::UnsetShared)
    return outcome;
  Launch drawn = launch;
  drawn.readsUnsetShared = true;
  const std::string note =
      "it reads shared memory that no thread has set; its results do not depend on the bits there";
  if (std::ranges::find(trial.findings, note, &Finding::message) == trial.findings.end())
    trial.findings.push_back({"uninitialised", Severity::Note, note, ""});
  return runner_.run(module, drawn, options);
}

Result<std::optional<Failure>> CheckContext::compare(const Built &candidate, const Launch &launch,
                                                     const Expected &expected,
                                                     const RunOptions &options, CheckId check,
                                                     Trial &trial,
                                                     const std::vector<Slack> &slack) {
  const auto start = std::chrono::steady_clock::now();
  RunOptions own = forCandidate(options, launch);
  if (!runner_.device().modelled && expected.ownSeconds() > 0)
    own.limit = Duration(candidateSeconds + kCandidateRuns * expected.ownSeconds());
  own.known = expected.digest;
  KOPT_TRY(RunOutcome outcome, runCandidate(candidate.module, launch, own, trial));
  // The original's instruction count is known only for the workload's launches. The limit of a
  // derived launch is a guess, so try once more with a higher one: a hang exceeds that, too.
  if (outcome.status == RunStatus::TimedOut && own.instructionLimit != 0 &&
      own.instructionLimit < kMostIdle && check != CheckId::Outputs && check != CheckId::Fresh) {
    own.instructionLimit = kMostIdle;
    KOPT_TRY(outcome, runCandidate(candidate.module, launch, own, trial));
  }
  waitedSeconds += waitedIn(outcome.stages);
  addStages(trial, "verify", secondsSince(start), outcome.stages);
  if (outcome.status != RunStatus::Ok)
    return failureOf(outcome.status, check,
                     fmt::format("launch '{}': {}", launch.name, outcome.detail));
  const StageTimer timer(trial, "verify/judge");
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    const Buffer &buffer = launch.buffers[i];
    if (buffer.readOnly)
      continue; // the runner compared it with what it filled in
    if (switches_.on(CheckId::Unwritten) && buffer.output && i < outcome.unwritten.size() &&
        outcome.unwritten[i] > 0)
      return Failure{CheckId::Unwritten, Verdict::WrongResult,
                     fmt::format("launch '{}': {} elements of '{}' were left unwritten",
                                 launch.name, outcome.unwritten[i], buffer.name)};
    if (outcome.isKnown)
      continue; // every bit is the same
    KOPT_TRY(const auto mismatch,
             compareBuffers(buffer, subject_.workload.tolerance, expected.buffers[i],
                            outcome.buffers[i], i < slack.size() ? slack[i] : Slack{}));
    if (mismatch)
      return Failure{check, Verdict::WrongResult,
                     fmt::format("launch '{}': {}", launch.name, mismatch->describe(buffer))};
  }
  return std::nullopt;
}

} // namespace kopt
