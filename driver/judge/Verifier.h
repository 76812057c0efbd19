// SPDX-License-Identifier: Apache-2.0
// Runs the checks on versions of a kernel, and lets them learn from the original first: in a search
// most of it when there is a winner, because most kernels have none.
#pragma once

#include "driver/judge/JudgeBench.h"
#include "driver/judge/checks/Checks.h"

#include <memory>
#include <set>
#include <vector>

namespace kopt {

class Verifier {
public:
  using Checks = std::vector<std::unique_ptr<Check>>;

  /// `emulation` is for the check `emulated`; null: there is none.
  Verifier(JudgeBench &bench, std::unique_ptr<Emulation> emulation);

  /// Lets the checks learn, once, that run at `depth` and below. Adds findings to the trial.
  Status learn(Depth depth, Trial &trial);
  /// True if checks have learned for winners.
  bool hasLearnedForWinners() const { return learned_ >= Depth::Trial; }
  /// True if they do so only when the first winner appears.
  bool waitsForWinner() const { return bench_.options.depth <= Depth::Search; }

  /// Runs the checks of `examination.depth`. Returns false if one refuses the version; the trial
  /// then says why.
  Result<bool> verify(Examination examination);
  /// Takes the records of these checks out of a trial that is verified anew.
  void forget(Trial &trial) const;

  /// Starts, on other threads, what the checks will compile of a version; false if nothing is
  /// compiled ahead. May be called from any thread, one at a time.
  bool compileAhead(const std::shared_ptr<const Subject> &subject,
                    std::shared_ptr<const RenderedCandidate> version, bool isOriginal);
  /// The threads that compile ahead; null before compileAhead().
  JobQueue *compilers() { return compilers_.get(); }

  const Checks &checks() const { return checks_; }
  DerivedReplays &replays() { return *replays_; }

private:
  Status learnChecks(Depth depth, Trial &trial);
  /// True if the check is left out for lack of time. One that the trial's findings demand is not: a
  /// fast candidate would be lost to save seconds.
  bool hasNoTime(const Check &check, const Trial &trial) const;
  Result<bool> runChecks(Examination &examination);

  JudgeBench &bench_;
  std::unique_ptr<Emulation> emulation_; ///< null: there is none
  std::shared_ptr<DerivedReplays> replays_;
  Checks checks_;
  /// Those that are left out: one of them tells the others how large the original's own error is.
  Checks unasked_;
  Depth learned_ = Depth::Look;         ///< the greatest depth whose checks have learned
  std::set<const Check *> unlearned_;   ///< for lack of time
  std::unique_ptr<JobQueue> compilers_; ///< last, as its jobs use the other members
};

} // namespace kopt
