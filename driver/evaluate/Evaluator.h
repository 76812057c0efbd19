// SPDX-License-Identifier: Apache-2.0
// Judges candidates: screen, build, verify, time, profile; the cheapest check first, the first failure ends it.
// A candidate's failure is a verdict. An Error is kopt's, the machine's or the baseline's.
#pragma once

#include "driver/evaluate/Statistics.h"
#include "driver/evaluate/Toolchain.h"
#include "driver/gates/Gates.h"
#include "driver/project/Frontend.h"
#include "driver/support/JobQueue.h"
#include "driver/verify/MutationTest.h"

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// Counters of one launch of a built module; the runner's own, or Nsight Compute's where there is a GPU.
using ProfileFunction =
    std::function<Result<ProfileOutcome>(ModuleId, const std::filesystem::path &module, const Launch &)>;

struct EvaluatorServices {
  Frontend &frontend;   ///< screen() and the toolchain's build() are called from several threads at a time
  Toolchain &toolchain;
  Runner &runner;
  ProfileFunction profile;
};

struct EvaluatorOptions {
  std::filesystem::path scratch; ///< modules and expected contents live here while the evaluator does
  std::string arch;              ///< "sm_90"
  std::uint64_t seed = 1;        ///< of everything random; the same seed repeats a run on a modelled device
  VerdictPolicy policy;
  TimeOptions timing;
  unsigned buildThreads = 0;     ///< candidates that are screened and built while others run; 0: each in its turn
  LayerSwitches layers;          ///< those left out make every Faster a Suspect
  bool keepGoing = false;        ///< ask the other layers too once one has refused: the first still decides
  double escalateAbove = 3;      ///< a larger speedup is verified again at full strength
  bool acceptWeakWorkload = false; ///< a win may be claimed on a workload that does not notice all wrong kernels
  bool testWorkload = true;      ///< wrong versions of the kernel are tried; not where another workload has been tested
  std::filesystem::path cache;   ///< folder in which mutation tests are kept from run to run; empty: they are not
};

class Evaluator {
public:
  Evaluator(EvaluatorServices services, Subject subject, EvaluatorOptions options);

  /// Builds, runs, repeats, times and profiles the user's own kernel, and learns which buffers are pure outputs. Must
  /// succeed before anything else is judged. Fails with BaselineFailed, saying at which step and why.
  Result<Trial> measureBaseline();

  /// Says which candidates evaluate() will be asked for, in this order: they are screened and built on other threads
  /// meanwhile. What is decided about them is decided by evaluate() alone, so it is the same without this.
  void buildAhead(const std::vector<Candidate> &candidates);

  /// One full evaluation, but for a GPU's counters: see addCounters(). Fails only with Environment, Internal or
  /// Interrupted.
  Result<Trial> evaluate(const Candidate &candidate);

  /// Counters for a trial that has none, of a candidate that was timed: on a GPU they cost seconds, so only those have
  /// them whose counters someone reads next. Changes counters, source, findings, stages and seconds of the trial.
  Status addCounters(Trial &trial);

  /// The candidate again on fresh inputs and fresh samples, at 99%: what is reported of a winner.
  Result<Trial> confirm(const Candidate &candidate);

  /// Tells of a trial that an earlier, interrupted run already judged, so that its machine code is known.
  void remember(const Trial &trial);

  const Subject &subject() const { return bench_.subject(); }

  /// What measureBaseline() found of the workload: wrong versions of the kernel, and which of them it notices.
  const MutationReport &mutations() const { return mutations_; }

private:
  /// What is known of a candidate before it runs: a trial that is decided already, or one with a module.
  struct Prepared {
    Trial trial;
    Built built;
    bool ready = false;
    double seconds = 0;
    std::optional<Error> error;
  };

  /// These four are called from several threads: they change nothing of the evaluator.
  Result<bool> screen(const RenderedSlice &rendered, Trial &trial) const;
  Result<bool> compile(const Candidate &candidate, const RenderedSlice &rendered, const std::filesystem::path &output,
                       Trial &trial, Built &built) const;
  Result<bool> screenAndCompile(const Candidate &candidate, const std::filesystem::path &output, Prepared &prepared) const;
  Prepared prepare(const Candidate &candidate, const std::filesystem::path &output) const;
  /// What was built ahead, or kept of a faster one, or made now. Adds how long it was waited for.
  Prepared take(const Candidate &candidate, double &waited);
  std::filesystem::path nextModule();
  Result<bool> load(Built &built, Trial &trial);
  bool isDuplicate(const Candidate &candidate, const Built &built, Trial &trial);
  Result<bool> verify(const Candidate &candidate, const Built &built, std::uint64_t freshSeed, Strength strength,
                      bool sanitize, Trial &trial);
  /// Records a failure; the first decides. True where evaluation goes on all the same.
  bool refuse(const Failure &failure, Trial &trial) const;
  Result<std::optional<Failure>> timedOutputsAgree(std::size_t index, const Launch &launch, const TimingOutcome &outcome,
                                                   Trial &trial);
  Result<bool> time(const Built &built, const VerdictPolicy &policy, Trial &trial);
  void claim(const std::vector<Launch> &launches, Trial &trial) const;
  Status profile(const Built &built, Trial &trial);
  Result<Trial> judge(const Candidate &candidate, std::uint64_t freshSeed, const VerdictPolicy &policy, bool isConfirm);

  Result<Expected> expect(std::size_t launch, std::uint64_t inputSeed, std::uint64_t poisonSeed,
                          const std::string &slot);
  Status learnGates(Trial &trial);
  Status testMutants(Trial &trial);
  BuildRequest baselineRequest() const;
  Status buildBaseline(Trial &trial);
  Status classifyBuffers();
  Status checkRepeatability();
  Status checkSensitivity();
  Status findUnseenInputs(Trial &trial);
  Status timeBaseline(Trial &trial);
  Status limitInstructions(const Trial &baseline);
  void noteIncidents(Trial &trial);
  std::string codeKey(const std::string &moduleHash, const std::vector<Launch> &launches) const;

  EvaluatorServices services_;
  EvaluatorOptions options_;
  Bench bench_;
  std::vector<std::unique_ptr<Gate>> gates_;
  MutationReport mutations_;
  std::map<std::string, std::string> seenCode_; ///< code key -> title of the trial that had it
  std::map<std::string, Prepared> faster_;     ///< by content hash: for the confirmation and the counters
  int modules_ = 0;
  std::map<std::string, std::future<Prepared>> ahead_; ///< by content hash
  std::unique_ptr<JobQueue> builders_; ///< last: its jobs use the rest
};

} // namespace kopt
