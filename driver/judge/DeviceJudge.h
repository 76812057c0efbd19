// SPDX-License-Identifier: Apache-2.0
// One device's look at candidates: verify, time, claim, profile, always beside the baseline on the
// same device.
#pragma once

#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/WorkloadAdequacy.h"
#include "driver/judge/checks/Checks.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// Used from one thread at a time. A candidate's failure is a verdict; an Error is kopt's, the
/// machine's or the baseline's.
class DeviceJudge {
public:
  /// `emulate` opens an emulated device for a second opinion; empty: there is none.
  DeviceJudge(JudgeDevice device, Frontend &frontend, Toolchain &toolchain, Subject subject,
              JudgeOptions options, const EmulatedDevices &emulated = {});

  /// Runs, repeats, times and profiles the user's own kernel, and learns which buffers are pure
  /// outputs. Must succeed before anything is examined. Where a search on a GPU is to come, what
  /// only winners are asked is learned when there is one: most kernels have none. Fails with
  /// BaselineFailed, saying at which step and why.
  Status measureBaseline(const Built &built, Trial &trial);
  /// What the first device learned, for a second one of the same kind: it takes the workload's
  /// weights from there, times and profiles nothing, and fails with BaselineFailed where its own
  /// results are others. The trial gets its incidents.
  Status learnAs(const DeviceJudge &first, const Built &built, Trial &trial);
  /// Wrong versions of the kernel go through the checks, unless that waits for a winner. Findings
  /// go into the trial.
  Status testMutants(Trial &trial);
  /// What was found on another device of the kind: the launches that it added are made here, too.
  Status takeMutations(const AdequacyReport &report);

  /// Everything after the build. Fails only with Environment, Internal or Interrupted.
  Result<Trial> judge(const Prepared &prepared, Purpose purpose);

  /// Why the module, which is not loaded yet, does not pass the checks; nothing: it does. Neither
  /// screened nor timed.
  Result<std::optional<Failure>> whyNot(const Candidate &candidate, Built built,
                                        std::uint64_t freshSeed);

  /// The candidate may become a winner: what its confirmation will have compiled, and what is
  /// learned for the first one, is compiled on other threads from now on. `subject` as
  /// measureBaseline() left it. From any one thread.
  void compileAhead(const Subject &subject, const Candidate &candidate);

  /// How many times as fast `one` is as `other`, timed by turns in one process. Nothing where
  /// either does not run.
  Result<std::optional<Speedup>> compare(Built one, Built other);

  /// Adds counters to a trial of the candidate that was prepared.
  Status addCounters(const Prepared &prepared, Trial &trial);

  const Subject &subject() const { return context_.subject(); }
  const Built &baseline() const { return context_.baseline(); }
  /// Which of them the workload notices; of none until they have been tried.
  const AdequacyReport &mutations() const { return mutations_; }
  bool hasTestedMutants() const { return hasTestedMutants_; }
  const JudgeDevice &device() const { return device_; }

private:
  Result<bool> load(Built &built, Trial &trial);
  bool fitsWithoutOptIn(const Candidate &candidate, const Built &built, Trial &trial) const;
  Result<bool> verify(const Candidate &candidate, const Built &built, std::uint64_t freshSeed,
                      Strength strength, Depth depth, Trial &trial);
  Result<std::optional<Failure>> timedOutputsAgree(std::size_t index, const Launch &launch,
                                                   const TimingOutcome &outcome, Trial &trial);
  TimeOptions timeOptions(std::size_t index) const; ///< of a launch of the workload
  /// One launch, in one process or in several fresh ones. False: the trial is decided.
  Result<bool> timeLaunch(const Built &built, std::size_t index, std::uint32_t process,
                          LaunchTiming &timing, Trial &trial);
  Result<bool> time(const Built &built, const VerdictPolicy &policy, std::uint32_t processes,
                    Trial &trial);
  void claim(const std::vector<Launch> &launches, Depth depth, Trial &trial) const;
  std::optional<Failure> whyNotClaimed(const std::vector<Launch> &launches, Depth depth,
                                       Trial &trial) const;
  Assurance assuranceSoFar(const Trial &trial) const;
  Status profile(const Built &built, Trial &trial);
  Status judge(const Candidate &candidate, Built &built, Purpose purpose, Trial &trial);
  void noteIncidents(Trial &trial);

  Result<Expected> expect(std::size_t launch, std::uint64_t inputSeed, std::uint64_t poisonSeed,
                          const std::string &slot);
  Status loadBaseline(const Built &built, Trial &trial);
  Status classifyBuffers();
  Result<bool> ignoresExtremes(std::size_t index, std::size_t buffer, const Expected &reference);
  Status checkRepeatability(Trial &trial);
  Result<bool> learnVariation(std::size_t launch, Trial &trial);
  Status checkSensitivity(Trial &trial);
  void addWorkloadGap(const std::string &check, const std::string &what, Trial &trial);
  Status findUnseenInputs(Trial &trial);
  Status timeBaseline(Trial &trial);
  Result<bool> chooseCacheModes(const Trial &cold);
  Status limitInstructions(const Trial &baseline);
  Status findBlocksApart(Trial &trial);
  bool waitsForWinner() const;
  AdequacySettings adequacySettings() const;
  Status learnChecks(Depth depth, Trial &trial);
  Status learnForWinner(Trial &trial);
  Status agreesWith(const DeviceJudge &first) const;

  JudgeDevice device_;
  Runner &runner_;
  Frontend &frontend_;
  Toolchain &toolchain_;
  JudgeOptions options_;
  CheckContext context_;
  std::unique_ptr<Emulation> emulation_; ///< null: there is none
  std::shared_ptr<DerivedReplays> replays_;
  std::vector<std::unique_ptr<Check>> checks_;
  bool hasTestedMutants_ = false;
  Depth learned_ = Depth::Search;  ///< of the checks
  std::vector<AssuranceGap> gaps_; ///< of the workload, and so of every candidate
  AdequacyReport mutations_;
  std::set<std::size_t> warm_;         ///< launches of the workload that are timed with a warm L2
  std::uint32_t sharedOfBaseline_ = 0; ///< bytes that the original declares
  std::map<std::size_t, Counters> timedCounters_; ///< by launch, of the module timed last
  ModuleId timedModule_ = 0;
  std::set<std::string> throttled_, otherLoad_; ///< what disturbed the timing that is going on
  std::unique_ptr<JobQueue> compilers_;         ///< of compileAhead(); last: its jobs use the rest
};

} // namespace kopt
