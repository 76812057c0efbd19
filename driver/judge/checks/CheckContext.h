// SPDX-License-Identifier: Apache-2.0
// The original and a candidate side by side: runs a launch of either and compares what they leave.
// Every check asks here, so that deadlines, seeds and what counts as wrong are the same for all of
// them.
#pragma once

#include "driver/device/Runner.h"
#include "driver/judge/checks/CheckList.h"
#include "driver/judge/checks/CompareBuffers.h"
#include "driver/model/Candidate.h"
#include "driver/model/Trial.h"
#include "driver/model/TuneDeclaration.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The kernel under test. Everything refers to the baseline.
struct Subject {
  KernelSpec kernel;
  Specialization specialization;
  std::string sliceText;
  Workload workload;
  /// What the workload was made from. Of captured launches only its requirements and tolerance say
  /// anything.
  std::optional<TuneDeclaration> declaration;
};

/// A kernel that compiled, the launches it wants, and the module once it is loaded.
struct Built {
  std::filesystem::path path;
  std::string symbol;
  std::string hash;                   ///< of the machine code
  std::vector<std::string> externals; ///< what it calls and does not hold
  ModuleId module = 0;
  std::vector<Launch> launches;
};

/// What the baseline left in every buffer of one launch for one draw of inputs: no path for a
/// read-only one.
struct Expected {
  std::uint64_t inputSeed = 0;
  std::vector<std::filesystem::path> buffers;
  std::vector<std::uint64_t> unwritten; ///< as RunOutcome::unwritten
  double seconds = 0;                   ///< of the run
  StageSeconds stages;

  /// The seconds of the run without the wait for another kopt's use of the GPU.
  double ownSeconds() const {
    const auto waited = stages.find("lock");
    return seconds - (waited == stages.end() ? 0 : waited->second);
  }
};

/// Why a candidate does not pass.
struct Failure {
  std::string check;
  Verdict verdict = Verdict::WrongResult;
  std::string reason;
};

/// Two patterns that outputs, padding and guard zones hold before a launch: what depends on stale
/// memory differs.
inline constexpr std::uint64_t kPoison = 0x51, kOtherPoison = 0xa7;

class CheckContext {
public:
  CheckContext(Runner &runner, Subject subject, std::uint64_t seed, CheckSwitches switches);

  Runner &runner() { return runner_; }
  const Runner &runner() const { return runner_; }
  Subject &subject() { return subject_; }
  const Subject &subject() const { return subject_; }
  std::uint64_t seed() const { return seed_; } ///< of everything random
  const CheckSwitches &switches() const { return switches_; }

  Built &baseline() { return baseline_; }
  const Built &baseline() const { return baseline_; }
  /// Per declared launch, once they are known: wall time of a run of the baseline, and the
  /// instructions after which a launch on a modelled device is stopped.
  std::vector<double> baselineSeconds;
  std::vector<std::uint64_t> instructionLimits;
  /// The original's blocks meet in no word that one of them writes but by fences and flags: a
  /// candidate's may not either.
  bool blocksAreApart = false;
  std::vector<Expected>
      expected; ///< per declared launch, at the fixed seed; kept for all candidates

  /// Options of a run of declared launch `index`, or of a derived one, which is smaller. `slot`
  /// names its files.
  RunOptions options(std::uint64_t inputSeed, std::uint64_t poisonSeed, std::size_t index,
                     std::string slot) const;

  /// The same for a candidate's own launch, which may have far more threads than the original's:
  /// those without work take some instructions to find that out.
  RunOptions forCandidate(RunOptions options, const Launch &own) const;

  /// The declared launch that costs most: what is not tried on all launches is tried on it.
  std::size_t heaviest() const;

  /// What the baseline leaves. Fails with BaselineFailed where it does not run through.
  Result<Expected> expect(const Launch &launch, const RunOptions &options);
  /// The same where a baseline that does not run through is an answer: then the text says how.
  Result<tl::expected<Expected, std::string>> tryExpect(const Launch &launch,
                                                        const RunOptions &options);

  /// Runs the candidate and compares. Nothing: it passed. `check` is the one that is asked; what
  /// the runner itself finds is of the check that looks for it. Adds the run's stages to the trial.
  /// `slack` is for each buffer, or empty: none.
  Result<std::optional<Failure>> compare(const Built &candidate, const Launch &launch,
                                         const Expected &expected, const RunOptions &options,
                                         const std::string &check, Trial &trial,
                                         const std::vector<Slack> &slack = {});

private:
  Runner &runner_;
  Subject subject_;
  std::uint64_t seed_;
  CheckSwitches switches_;
  Built baseline_;
  const std::string slots_; ///< ends the names of all files: a runner serves several judges
};

/// A check's verdict on how a launch ended, other than well.
Failure failureOf(RunStatus status, const std::string &check, std::string reason);

/// Records that a check refuses the trial's candidate. The first that does decides the verdict.
void refuse(const Failure &failure, Trial &trial);

/// Adds the stages of one call of the runner, and what of its `wall` time none of them had.
void addStages(Trial &trial, const std::string &part, double wall, const StageSeconds &stages);

/// Seconds since a point in time, and a scope that adds its life to a stage of a trial.
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

} // namespace kopt
