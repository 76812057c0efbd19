// SPDX-License-Identifier: Apache-2.0
// Holds the original and a candidate side by side, runs launches of either and compares their
// outputs. All checks use it, so deadlines, seeds and the definition of a wrong result are the same
// for all of them.
#pragma once

#include "driver/judge/context/CompareBuffers.h"
#include "driver/judge/context/Subject.h"
#include "driver/model/Candidate.h"
#include "driver/model/CheckList.h"
#include "driver/model/Trial.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The seconds of the stages in which another kopt used the GPU.
inline double waitedIn(const StageSeconds &stages) {
  const auto waited = stages.find("lock");
  return waited == stages.end() ? 0 : waited->second;
}

/// What the baseline left in every buffer of one launch, for one draw of inputs. The path of a
/// read-only buffer is empty.
struct Expected {
  std::uint64_t inputSeed = 0;
  std::uint32_t jitter = 0; ///< as RunOptions::jitter
  std::vector<std::filesystem::path> buffers;
  std::vector<std::uint64_t> unwritten; ///< as RunOutcome::unwritten
  ResultsDigest digest;
  bool isKnown = false; ///< as RunOutcome::isKnown
  double seconds = 0;   ///< of the run
  StageSeconds stages;

  /// The seconds of the run without the wait for another kopt's use of the GPU.
  double ownSeconds() const { return seconds - waitedIn(stages); }
};

/// How a run of the baseline ended that gave no results.
struct Unfinished {
  RunStatus status = RunStatus::Fault;
  std::string what; ///< a sentence for people
};

/// Why a candidate is refused.
struct Failure {
  CheckId check = CheckId::None;
  Verdict verdict = Verdict::WrongResult;
  std::string reason;
  std::optional<RunStatus> ended{}; ///< how the launch ended, if it did not run to its end
};

/// Two patterns that fill outputs, padding and guard zones before a launch: results that depend on
/// stale memory differ between them.
inline constexpr std::uint64_t kPoison = 0x51, kOtherPoison = 0xa7;

class CheckContext {
public:
  CheckContext(Runner &runner, Subject subject, std::uint64_t seed, CheckSwitches switches);

  Runner &runner() { return runner_; }
  const Runner &runner() const { return runner_; }
  const Subject &subject() const { return subject_; }
  std::uint64_t seed() const { return seed_; } ///< seed of everything random
  const CheckSwitches &switches() const { return switches_; }

  Built &baseline() { return baseline_; }
  const Built &baseline() const { return baseline_; }
  /// For each declared launch, once known: the wall time of a run of the baseline, and the number
  /// of instructions after which a launch on a modelled device is stopped.
  std::vector<double> baselineSeconds;
  std::vector<std::uint64_t> instructionLimits;
  /// The seconds that a run of a candidate on a GPU may take beyond 20 times the baseline's run.
  double candidateSeconds = 3;
  double waitedSeconds = 0; ///< in all runs, for other kopts that used the GPU
  /// True if the original's threads race, and its results do not depend on their order. Then races
  /// are not looked for.
  bool racesItself = false;
  /// True if the original's blocks access no common word that one of them writes, except through
  /// fences and flags. Then a candidate's blocks may not either.
  bool blocksAreApart = false;
  std::vector<Expected>
      expected; ///< for each declared launch, at the fixed seed; kept for all candidates

  /// Options for running declared launch `index`, or a smaller launch derived from it. `slot` names
  /// the files of the run.
  RunOptions options(std::uint64_t inputSeed, std::uint64_t poisonSeed, std::size_t index,
                     std::string slot) const;

  /// `options` for a launch of the baseline that may hang, as the program never launches it. On a
  /// GPU it gets little time, because nothing is lost but a test. `usual`: the seconds that it
  /// should take; 0: unknown, which changes nothing.
  RunOptions forTrying(RunOptions options, double usual) const;

  /// `options` with a higher instruction limit for a candidate's own launch, which may have far
  /// more threads than the original's: threads without work need a few instructions to find that
  /// out.
  RunOptions forCandidate(RunOptions options, const Launch &own) const;

  /// Index of the declared launch with the greatest weight. Tests that are too expensive for all
  /// launches run on this one.
  std::size_t heaviest() const;

  /// Runs the baseline and returns its results. Fails with BaselineFailed if the baseline does not
  /// finish the launch.
  Result<Expected> expect(const Launch &launch, const RunOptions &options);
  /// As expect(), but a baseline that does not finish is a valid answer.
  Result<tl::expected<Expected, Unfinished>> tryExpect(const Launch &launch,
                                                       const RunOptions &options);

  /// Runs the candidate. Where it reads shared memory that no thread has set, runs it again with
  /// drawn bits there, which show whether results depend on it, and notes that in `trial`.
  Result<RunOutcome> runCandidate(ModuleId module, const Launch &launch, const RunOptions &options,
                                  Trial &trial);
  /// Runs the candidate and compares its results with `expected`; returns nothing if it passes.
  /// On a GPU its run may take 20 times the baseline's, and some seconds.
  /// `check` names the check that asks; faults that the runner finds itself are reported under the
  /// check responsible for them. Adds the run's stages to `trial`. `slack` has one entry for each
  /// buffer, or is empty for none.
  Result<std::optional<Failure>> compare(const Built &candidate, const Launch &launch,
                                         const Expected &expected, const RunOptions &options,
                                         CheckId check, Trial &trial,
                                         const std::vector<Slack> &slack = {});

private:
  Runner &runner_;
  const Subject subject_;
  std::uint64_t seed_;
  CheckSwitches switches_;
  Built baseline_;
  const std::string slots_; ///< suffix of all file names: a runner serves several judges
};

/// The failure that `check` reports for a launch that did not end with RunStatus::Ok.
Failure failureOf(RunStatus status, CheckId check, std::string reason);

/// Records that a check refuses the trial's candidate. The first refusal decides the verdict.
void refuse(const Failure &failure, Trial &trial);

/// Adds the stages of one call to the runner to the trial. The part of `wall`, in seconds, that no
/// stage accounts for becomes the stage "other".
void addStages(Trial &trial, const std::string &part, double wall, const StageSeconds &stages);

/// Adds the seconds of its lifetime to a stage of a trial.
class StageTimer {
public:
  StageTimer(Trial &trial, std::string stage);
  ~StageTimer();
  StageTimer(const StageTimer &) = delete;
  StageTimer &operator=(const StageTimer &) = delete;

private:
  Trial &trial_;
  std::string stage_;
  std::chrono::steady_clock::time_point start_;
};
double secondsSince(std::chrono::steady_clock::time_point start);

/// The time since its construction in which no run waited for another kopt's use of the GPU.
class OwnTime {
public:
  explicit OwnTime(const CheckContext &context)
      : context_(context), waitedBefore_(context.waitedSeconds) {}
  double seconds() const { return secondsSince(start_) - (context_.waitedSeconds - waitedBefore_); }

private:
  const CheckContext &context_;
  const double waitedBefore_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace kopt
