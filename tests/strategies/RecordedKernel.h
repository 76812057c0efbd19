// SPDX-License-Identifier: Apache-2.0
// A kernel's recorded trials (tests/benchmarks/record_trials.py) as proposers and a judge, so that
// a whole search over them takes milliseconds.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/knowledge/ExperienceBase.h"
#include "driver/search/Proposer.h"
#include "driver/search/policy/Portfolio.h"
#include "fakes/FakeClock.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt::fakes {

struct RecordedTrial {
  std::optional<std::size_t> parent; ///< none: the baseline
  std::string proposer, technique, title;
  Verdict verdict = Verdict::Same;
  std::optional<Speedup> speedup;
  double seconds = 0;
  Counters counters;   ///< where they were recorded
  Diagnosis diagnosis; ///< of these
};

struct RecordedKernel {
  std::string program, kernel, device;
  std::vector<RecordedTrial> trials; ///< the baseline first
  std::string arch = "sm_90";        ///< of the first recordings, which do not say it

  /// Fails with Usage, naming the file, if it is no recording.
  static Result<RecordedKernel> load(const std::filesystem::path &file);

  std::vector<std::string> proposers() const;
  /// The largest log speedup of a trial that is Faster; 0 if there is none.
  double best() const;
  /// That of the trial, or of its nearest ancestor with counters.
  std::string stateOf(std::size_t trial) const;
  /// Log of the speedup over the trial's parent; nothing if it is not right.
  std::optional<double> gainOf(const RecordedTrial &trial) const;
};

/// The recorded trial, as a judge would tell it.
Trial trialOf(const RecordedKernel &kernel, std::size_t number);

/// The candidate that stands for a recorded trial. Its parents are those of the recording.
Candidate candidateFor(const RecordedKernel &kernel, std::size_t trial);

/// Offers what was tried on the parent in the recording, in its order; techniques take turns as
/// those of TransformProposer.
class RecordedProposer final : public Proposer {
public:
  RecordedProposer(const RecordedKernel &kernel, std::string name)
      : kernel_(kernel), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  void start(const ProposalContext &context, Inbox &inbox) override;

  int asks = 0, unrecorded = 0; ///< the second: of parents on which nothing was tried

private:
  const RecordedKernel &kernel_;
  std::string name_;
};

/// Answers with the recorded trials; the clock advances by what each took.
class RecordedKernelJudge final : public Judge {
public:
  RecordedKernelJudge(const RecordedKernel &kernel, FakeClock &clock)
      : kernel_(kernel), clock_(clock) {}
  Result<Baseline> baseline() override;
  Result<Trial> judge(const Candidate &candidate, Purpose purpose, Stage upTo) override;
  Result<std::optional<Speedup>> compare(const Candidate &, const Candidate &) override {
    return std::nullopt;
  }
  Status addCounters(Trial &) override { return {}; }

private:
  const RecordedKernel &kernel_;
  FakeClock &clock_;
};

/// The priors that these kernels' trials give for a kernel in that state.
std::map<std::string, Prior> priorsOf(const std::vector<const RecordedKernel *> &kernels,
                                      const std::string &state);

/// The log speedup of the fastest trial after each trial of a search, over that of the fastest
/// recorded one.
struct Course {
  std::vector<double> fractions; ///< after 0, 1, 2 … trials
  int asks = 0, unrecorded = 0;
  std::vector<std::size_t> judged; ///< numbers of the recorded trials, in their order
};
/// What is known of a kernel before its search.
struct KnownBefore {
  std::vector<Remembered> edits; ///< for RecallProposer
  Precedents precedents{};
};
/// Searches with the strategy until `trials` were judged or it stops.
Result<Course> courseOf(const RecordedKernel &kernel, Strategy &strategy, int trials,
                        const KnownBefore &known = {});

/// main() of a program over recordings: calls `run` with the files and whether `--check` was given.
/// Returns its exit code; 2 if it fails, with the error printed.
int runChecked(int count, char **arguments,
               Result<int> (*run)(const std::vector<std::string> &files, bool isCheck));

} // namespace kopt::fakes
