// SPDX-License-Identifier: Apache-2.0
// Judges candidates on one device: verifies, times, claims and profiles them beside the baseline on
// the same device.
#pragma once

#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/WorkloadAdequacy.h"
#include "driver/judge/checks/Checks.h"

#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

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
  /// outputs. Must succeed before anything is judged. In a search, checks that run only
  /// for winners learn when there is a winner, because most kernels have none. Fails with
  /// BaselineFailed, saying at which step and why.
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

  /// Verifies, times and claims a prepared candidate. Fails only with Environment, Internal or
  /// Interrupted.
  Result<Trial> judge(const Prepared &prepared, Purpose purpose);

  /// Loads the module and runs the checks, without screening or timing it. Returns why it does not
  /// pass; nothing if it does.
  Result<std::optional<Failure>> whyNot(const Candidate &candidate, Built built,
                                        std::uint64_t freshSeed);

  /// Starts, on other threads, the compilations that the candidate's confirmation will need, and
  /// those for what is learned before the first winner. `subject` is as measureBaseline() left it.
  /// May be called from any thread, one at a time.
  void compileAhead(const Subject &subject, const Candidate &candidate);

  /// How many times as fast `one` is as `other`, timed in alternation in one process. Nothing if
  /// either does not run.
  Result<std::optional<Speedup>> compare(Built one, Built other);

  /// Adds counters to a trial of the prepared candidate.
  Status addCounters(const Prepared &prepared, Trial &trial);

  const Subject &subject() const { return context_.subject(); }
  const Built &baseline() const { return context_.baseline(); }
  /// Which wrong versions the workload notices; empty until they have been tried.
  const AdequacyReport &mutations() const { return mutations_; }
  bool hasTestedMutants() const { return hasTestedMutants_; }
  const JudgeDevice &device() const { return device_; }

private:
  Result<bool> load(Built &built, Trial &trial);
  bool fitsWithoutOptIn(const Candidate &candidate, const Built &built, Trial &trial) const;
  Result<bool> verify(const Candidate &candidate, const Built &built, std::uint64_t freshSeed,
                      Strength strength, Depth depth, Trial &trial);
  Result<bool> runChecks(Examination &examination);
  /// True if a confirmation has just the time left to time the candidate.
  bool isLate() const;
  /// True if the check is one for winners that has not learned for lack of time, or cannot run.
  bool hasNoTime(const Check &check) const;
  /// The seconds that one step of learning may take, at most `seconds`.
  double mostSeconds(double seconds) const;
  Result<std::optional<Failure>> timedOutputsAgree(std::size_t index, const Launch &launch,
                                                   const TimingOutcome &outcome, Trial &trial);
  TimeOptions timeOptions(std::size_t index) const; ///< for launch `index` of the workload
  /// Times one launch in the runner's current process. Returns false if the trial is decided.
  Result<bool> timeLaunch(const Built &built, std::size_t index, std::uint32_t process,
                          LaunchTiming &timing, Trial &trial);
  Result<bool> time(const Built &built, const VerdictPolicy &policy, std::uint32_t processes,
                    Trial &trial);
  void claim(const std::vector<Launch> &launches, Depth depth, Trial &trial) const;
  std::optional<Failure> whyNotClaimed(const std::vector<Launch> &launches, Depth depth,
                                       Trial &trial) const;
  Assurance assuranceSoFar(const Trial &trial) const;
  Status profile(const Built &built, Trial &trial);
  void startFreshProcesses();
  /// What a candidate's lines cost, from another thread: on a GPU that takes a compilation. Not
  /// valid where no lines are wanted.
  using LineCosts = std::future<Result<std::vector<LineCost>>>;
  LineCosts costLines(const Trial &trial) const;
  /// Records hot lines: of the module timed last if times are modelled, otherwise of the machine
  /// code. If there are none, the record says why.
  void addHotLines(LineCosts costs, Trial &trial) const;
  Result<std::vector<LineCost>> linesOfCode(const Candidate &candidate,
                                            const std::string &candidateHash) const;
  Status judge(const Candidate &candidate, Built &built, Purpose purpose, Trial &trial);
  void noteIncidents(Trial &trial);

  Result<Expected> expect(std::size_t launch, std::uint64_t inputSeed, std::uint64_t poisonSeed,
                          const std::string &slot);
  Status loadBaseline(const Built &built, Trial &trial);
  Status acceptRaces(std::size_t index, const std::string &what);
  Status classifyBuffers();
  Result<bool> drawContents(std::size_t index, std::set<std::string> &read);
  Status checkRepeatability(Trial &trial);
  Result<Expected> expectInOtherOrder(std::size_t launch);
  Result<bool> learnVariation(std::size_t launch, int repeats);
  void reportVariation(const Launch &launch, Trial &trial);
  Status checkSensitivity(Trial &trial);
  void addWorkloadGap(CheckId check, const std::string &what, Trial &trial);
  Status findUnseenInputs(Trial &trial);
  Status timeBaseline(Trial &trial);
  Result<bool> chooseCacheModes(const Trial &cold);
  Status limitInstructions(const Trial &baseline);
  Status findBlocksApart(Trial &trial);
  bool waitsForWinner() const;
  bool compileChecksAhead(const std::shared_ptr<const Subject> &subject, const Candidate &version,
                          bool isOriginal);
  void compileMutantsAhead(const std::shared_ptr<const Subject> &subject);
  void compileOriginalAhead();
  AdequacySettings adequacySettings() const;
  Status learnChecks(Depth depth, Trial &trial);
  Status learnForWinner(Trial &trial);
  Status agreesWith(const DeviceJudge &first) const;

  JudgeDevice device_;
  Runner &runner_;
  Frontend &frontend_;
  Toolchain &toolchain_;
  JudgeOptions options_;
  std::function<double()> secondsLeft_; ///< as JudgeServices has it
  CheckContext context_;
  std::unique_ptr<Emulation> emulation_; ///< null: there is none
  std::shared_ptr<DerivedReplays> replays_;
  std::vector<std::unique_ptr<Check>> checks_;
  /// Those that are left out: one of them tells the others how large the original's own error is.
  std::vector<std::unique_ptr<Check>> unasked_;
  bool hasTestedMutants_ = false;
  Depth learned_ = Depth::Look;       ///< the greatest depth whose checks have learned
  std::set<const Check *> unlearned_; ///< for lack of time
  double timeSeconds_ = 0;            ///< that it took to time the baseline
  std::vector<AssuranceGap> gaps_;    ///< gaps of the workload, and so of every candidate
  AdequacyReport mutations_;
  std::set<std::size_t> warm_;         ///< launches of the workload that are timed with a warm L2
  std::uint32_t sharedOfBaseline_ = 0; ///< bytes of static shared memory of the original
  std::map<std::size_t, Counters> timedCounters_; ///< by launch, for the module timed last
  std::map<std::size_t, std::vector<LineCost>> timedLines_; ///< as timedCounters_
  ModuleId timedModule_ = 0;
  std::string race_;                    ///< of the original, which is accepted
  std::set<std::string> drawnLaunches_; ///< names of launches with drawn contents for captured ones
  std::map<std::string, Strength> needed_;      ///< to verify wins that were seen, by candidate
  std::set<std::string> throttled_, otherLoad_; ///< what disturbed the current timing
  std::unique_ptr<JobQueue> compilers_;         ///< last, as its jobs use the other members
};

} // namespace kopt
