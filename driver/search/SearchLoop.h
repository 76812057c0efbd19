// SPDX-License-Identifier: Apache-2.0
// The search over one kernel: decide, propose, judge, accept, until a limit or the strategy ends
// it. Uses no device, no database and no terminal directly, so that tests take milliseconds.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/search/Budget.h"
#include "driver/search/DecisionLog.h"
#include "driver/search/SearchHistory.h"
#include "driver/search/Strategy.h"
#include "driver/search/proposers/Proposer.h"
#include "driver/support/Clock.h"

#include <functional>
#include <memory>

namespace kopt {

/// True if `candidate` beats `incumbent` (both relative to the baseline): its interval must lie
/// above the incumbent's estimate by the fraction `minGain`.
bool improves(const Trial &candidate, const Trial &incumbent, double minGain);

/// Is told what happens, to report it to the user. By default its functions do nothing.
class SearchObserver {
public:
  virtual ~SearchObserver() = default;
  virtual void judging(const SearchHistory &, const Candidate &) {}
  virtual void judged(const Trial &) {}
  virtual void profiling(const Trial &) {}
  virtual void proposerFailed(const ProposerFailure &) {}
};

struct SearchSettings {
  Budget budget;
  double minGain = 0.01;  ///< smallest gain that counts, as a fraction
  double secondsUsed = 0; ///< seconds of the budget used before the search
};

/// A proposer that fails this many times in a row is not asked again in the run.
inline constexpr int kMostFailures = 3;

/// All of these are used from one thread and must outlive the loop.
struct SearchServices {
  Judge &judge;
  Strategy &strategy;
  const std::vector<std::unique_ptr<Proposer>> &proposers;
  DecisionLog &decisions;
  Clock &clock;
  SearchObserver &observer;
  std::function<Diagnosis(const Counters &)> diagnose;
  std::function<bool()> interrupted; ///< called before each candidate
};

class SearchLoop {
public:
  SearchLoop(const SearchServices &services, const SearchProblem &problem,
             const SearchSettings &settings)
      : services_(services), problem_(problem), settings_(settings) {}

  /// Runs the search; its last decision is a Stop. Fails with Interrupted, with the judge's errors,
  /// and with a proposer's error if all proposers failed before anything was judged. Trials until
  /// then are recorded, and the same search can continue from there.
  Result<SearchHistory> run(const Baseline &baseline);

private:
  Decision decide();
  /// The wall time that will be used once the next candidate is judged and the best one is
  /// confirmed.
  double secondsWithNext(bool opensRound) const;
  bool isTimeUp(bool opensRound) const;
  Status record(Decision decision);
  Status playRound(const Ask &ask);
  /// The candidates of an Ask; empty if the proposer has none or failed.
  Result<std::vector<Candidate>> candidatesFor(const Ask &ask);
  Status judgeAll(const std::vector<Candidate> &candidates);
  Status accept(std::size_t index);
  Error interruption() const; ///< with the best so far

  SearchServices services_;
  SearchProblem problem_;
  SearchSettings settings_;
  SearchHistory history_;
  std::optional<Error> failure_; ///< error of the proposer that failed last
  std::chrono::steady_clock::time_point start_;
  double judging_ = 0; ///< seconds spent on judging candidates, without waitOfRound_
  double waitOfRound_ =
      0; ///< seconds that the first candidate of the last round waited to be built
  std::size_t judged_ = 0;
};

} // namespace kopt
