// SPDX-License-Identifier: Apache-2.0
// The search over one kernel: decide, propose, judge, accept, until a limit or the strategy ends
// it. Knows no device, no database and no terminal, so that it is tested in milliseconds.
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

/// True where `candidate` beats `incumbent` (both relative to the baseline): its interval must lie
/// above the incumbent's estimate by `minGain`, a fraction.
bool improves(const Trial &candidate, const Trial &incumbent, double minGain);

/// Told what happens, for people. Every function may be left as it is.
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
  double minGain = 0.01;  ///< smallest gain worth having, a fraction
  double secondsUsed = 0; ///< of the budget's, before the search
};

/// A proposer that failed as often in a row is not asked again in the run.
inline constexpr int kMostFailures = 3;

/// Everything is used from one thread and outlives the loop.
struct SearchServices {
  Judge &judge;
  Strategy &strategy;
  const std::vector<std::unique_ptr<Proposer>> &proposers;
  DecisionLog &decisions;
  Clock &clock;
  SearchObserver &observer;
  std::function<Diagnosis(const Counters &)> diagnose;
  std::function<bool()> interrupted; ///< asked before each candidate
};

class SearchLoop {
public:
  SearchLoop(const SearchServices &services, const SearchProblem &problem,
             const SearchSettings &settings)
      : services_(services), problem_(problem), settings_(settings) {}

  /// Ends with a Stop as the last decision. Fails with Interrupted, with what the judge fails with,
  /// and with a proposer's error where all of them failed before anything was judged; what was
  /// judged until then is recorded, and the same search goes on from there.
  Result<SearchHistory> run(const Baseline &baseline);

private:
  Decision decide();
  /// Wall time that is used once the next candidate is judged and the best of them is confirmed.
  double secondsWithNext() const;
  bool isTimeUp() const;
  Status record(Decision decision);
  Status playRound(const Ask &ask);
  /// The candidates of an Ask. Empty where the proposer has none, or failed.
  Result<std::vector<Candidate>> candidatesFor(const Ask &ask);
  Status judgeAll(const std::vector<Candidate> &candidates);
  Status accept(std::size_t index);

  SearchServices services_;
  SearchProblem problem_;
  SearchSettings settings_;
  SearchHistory history_;
  std::optional<Error> failure_; ///< of the proposer that failed last
  std::chrono::steady_clock::time_point start_;
  double judging_ = 0; ///< seconds that went into candidates
  std::size_t judged_ = 0;
};

} // namespace kopt
