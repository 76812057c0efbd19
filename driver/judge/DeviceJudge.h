// SPDX-License-Identifier: Apache-2.0
// Judges candidates on one device, beside the baseline on the same device. Its parts verify
// (Verifier), time (CandidateTimer), profile (CandidateProfiler) and claim (Claim.h).
#pragma once

#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/CandidateProfiler.h"
#include "driver/judge/CandidateTimer.h"
#include "driver/judge/JudgePlan.h"
#include "driver/judge/Verifier.h"
#include "driver/judge/learn/WorkloadAdequacy.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace kopt {

/// Used from one thread at a time. A candidate's failure is a verdict; an Error is kopt's, the
/// machine's or the baseline's.
class DeviceJudge {
public:
  /// `emulation` is for the check `emulated`; null: there is none.
  /// `secondsLeft` is as JudgeServices has it.
  DeviceJudge(JudgeDevice device, Frontend &frontend, Toolchain &toolchain, Subject subject,
              JudgeOptions options, std::unique_ptr<Emulation> emulation = nullptr,
              std::function<double()> secondsLeft = {});

  /// Runs, repeats, times and profiles the user's own kernel, and learns which buffers are pure
  /// outputs. Must succeed before anything is judged. Fails with BaselineFailed, saying at which
  /// step and why.
  Status measureBaseline(const Built &built, Trial &trial);
  /// As measureBaseline(), for another device of the same kind as `first`: takes the workload's
  /// weights from it, and times and profiles nothing. Fails with BaselineFailed if this device's
  /// results differ. Adds incidents to the trial.
  Status learnAs(const DeviceJudge &first, const Built &built, Trial &trial);
  /// Runs wrong versions of the kernel through the checks, unless that waits for a winner. Adds
  /// findings to the trial.
  Status testMutants(Trial &trial);
  /// Takes over the report of another device of the same kind, and makes the launches that it added
  /// here, too.
  Status takeMutations(const AdequacyReport &report);

  /// Verifies, times and claims a prepared candidate. `fastest`: as planOf() takes it. Fails only
  /// with Environment, Internal or Interrupted.
  Result<Trial> judge(const Prepared &prepared, Purpose purpose, double fastest = 0);

  /// Loads the module and runs the checks, without screening or timing it. Returns why it does not
  /// pass; nothing if it does.
  Result<std::optional<Failure>> whyNot(const RenderedCandidate &candidate, Built built,
                                        std::uint64_t freshSeed);

  /// Starts, on other threads, the compilations that the candidate's confirmation will need, and
  /// those for what is learned before the first winner. May be called from any thread, one at a
  /// time, once the baseline is measured.
  void compileAhead(const RenderedCandidate &candidate);

  /// How many times as fast `one` is as `other`, timed in alternation in one process. Nothing if
  /// either does not run.
  Result<std::optional<Speedup>> compare(Built one, Built other);

  /// Adds counters to a trial of the prepared candidate.
  Status addCounters(const Prepared &prepared, Trial &trial);

  const Built &baseline() const { return bench_.context.baseline(); }
  /// Which wrong versions the workload notices; empty until they have been tried.
  const AdequacyReport &mutations() const { return mutations_; }
  bool hasTestedMutants() const { return hasTestedMutants_; }
  const JudgeDevice &device() const { return bench_.device; }

private:
  Status loadBaseline(const Built &built, Trial &trial);
  Status learnChecks(Trial &trial);
  Status learnForWinner(Trial &trial);
  AdequacySettings adequacySettings() const;
  void compileOriginalAhead();
  bool fitsWithoutOptIn(const Candidate &candidate, const Built &built, Trial &trial) const;
  Status judge(const RenderedCandidate &candidate, Built &built, const JudgePlan &plan,
               std::uint64_t freshSeed, Strength strength, Trial &trial);
  Status timeRefused(const Built &built, const JudgePlan &plan, Trial &trial);
  Result<bool> escalate(const Examination &first, const JudgePlan &plan, bool isDoubtful);
  void noteIncidents(Trial &trial);

  JudgeBench bench_;
  Verifier verifier_;
  CandidateTimer timer_;
  CandidateProfiler profiler_;
  AdequacyReport mutations_;
  bool hasTestedMutants_ = false;
  std::uint32_t sharedOfBaseline_ = 0;     ///< bytes of static shared memory of the original
  std::map<std::string, Strength> needed_; ///< to verify wins that were seen, by candidate
};

} // namespace kopt
