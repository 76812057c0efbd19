// SPDX-License-Identifier: Apache-2.0
// The search over one kernel: decide, ask, judge, accept, until a limit or the strategy ends it.
// One thread owns the journal, the store and the queue of candidates; other threads only wait for
// networks and devices. Uses no device, no database and no terminal directly, so that tests take
// milliseconds.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/search/Budget.h"
#include "driver/search/Journal.h"
#include "driver/search/Proposer.h"
#include "driver/search/Strategy.h"
#include "driver/support/Clock.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>

namespace kopt {

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
  Budget budget{};
  double secondsUsed = 0;         ///< seconds of the budget used before the search
  std::optional<Decision> roof{}; ///< the Stop of a kernel of which nothing else is tried
  /// What is asked for before the strategy decides, in this order; one with an id, as the ask of
  /// that id. One whose parent has no trial yet waits for it, and is left out if there will be
  /// none.
  std::vector<Ask> first{};
  /// What is asked for, of the best, before the search ends: a proposer whose answers may come in a
  /// later session. The strategy does not ask it.
  std::optional<Ask> last{};
  /// A proposer reads the counters of candidates. Where none does, only those of the baseline and
  /// of the winner are taken.
  bool readsCounters = true;
};

/// All of these are used from one thread and must outlive the loop.
struct SearchServices {
  Judge &judge;
  Strategy &strategy;
  const std::vector<std::unique_ptr<Proposer>> &proposers;
  Journal &journal;
  Inbox &inbox;
  Clock &clock;
  SearchObserver &observer;
  std::function<bool()> interrupted; ///< called before each candidate
};

class SearchLoop {
public:
  SearchLoop(const SearchServices &services, const SearchProblem &problem,
             const SearchSettings &settings)
      : services_(services), problem_(problem), settings_(settings) {}

  /// Replays the events of earlier sessions, then runs the search; its last event is a Stop. Fails
  /// with Interrupted, with the judge's errors, and with a proposer's error if all proposers failed
  /// before anything was judged. What happened until then is recorded, and the same search can
  /// continue from there.
  Result<SearchHistory> run(const Baseline &baseline);

private:
  Status replay();
  /// The strategy's decision, unless a limit is reached.
  Decision decide();
  /// How many candidates may still be asked for.
  std::size_t roomForTrials() const;
  /// The wall time that will be used once the next candidate is judged and the best one is
  /// confirmed.
  double secondsWithNext() const;
  Status append(Event event, const Trial *judged = nullptr);
  Status act(Ask ask, std::vector<Evidence> evidence);
  Status act(const Profile &profile);
  Status act(const Stop &stop, std::vector<Evidence> evidence);
  /// Asks for settings_.last, if it was not asked or its last candidates are judged, and waits
  /// until it has answered or is known to answer later. True if it has answered.
  Result<bool> askLast(const Stop &stop);
  /// True if nothing can happen until a later session.
  bool waitsForLater() const;
  /// Judges the next candidate; without one, waits for what arrives.
  Status act(const Wait &wait);
  Status judgeNext();
  Status take(Arrival arrival);
  Status fail(const Ask &ask, const Error &error);
  Proposer &proposerOf(const Ask &ask);
  Error interruption() const; ///< with the best so far

  SearchServices services_;
  SearchProblem problem_;
  SearchSettings settings_;
  SearchHistory history_;
  std::optional<Error> failure_; ///< error of the proposer that failed last
  std::set<int> later_;          ///< asks whose answers come in a later session
  std::chrono::steady_clock::time_point start_;
  double judging_ = 0; ///< seconds spent on judging candidates, without waitOfFirst_
  double waitOfFirst_ =
      0; ///< seconds that the first candidate of the last answer waited to be built
  std::size_t judged_ = 0;
};

} // namespace kopt
