// SPDX-License-Identifier: Apache-2.0
// The time of `kopt tune`: how long each kernel may take of the time budget, and what was spent.
// Runs of the user's program do not count.
#pragma once

#include "driver/model/Run.h"
#include "driver/search/Budget.h"

#include <functional>
#include <optional>

namespace kopt {

/// Seconds of the time budget that are kept to build the program as it is and with the wins, and
/// the most of the budget that they may be. Six programs of HeCBench took 2.4 to 4.4 s.
inline constexpr double kToBuildPrograms = 3, kMostToBuild = 0.1;

/// Leaves out the time in a queue.
class QueueFreeClock final : public Clock {
public:
  /// `queued` is called from any thread.
  QueueFreeClock(Clock &clock, std::function<Duration()> queued)
      : clock_(clock), queued_(std::move(queued)) {}
  std::chrono::steady_clock::time_point now() const override {
    return clock_.now() -
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(queued_());
  }
  void sleep(Duration seconds) override { clock_.sleep(seconds); }
  std::string utc() const override { return clock_.utc(); }

private:
  Clock &clock_;
  std::function<Duration()> queued_;
};

class TuneClock {
public:
  /// `queued` is what QueueFreeClock takes.
  explicit TuneClock(
      Clock &clock, std::function<Duration()> queued = [] { return Duration(); })
      : clock_(clock, std::move(queued)) {}

  Clock &clock() { return clock_; } ///< which leaves out the time in a queue

  /// The budget begins only after the program's own runs. `withPrograms`: the wins are confirmed in
  /// the program, and the time to build it is kept.
  void beginBudget(double seconds, bool withPrograms);
  /// Nothing more is kept.
  void releaseBudget() { budget_->reserve(0); }
  double limit() const { return budget_->limit(); } ///< of the budget
  double left() const { return budget_->left(); }
  double used() const { return budget_->used() - programSeconds_; }

  /// Begins a kernel's turn with its share of the time that is left: `weight` of `weights`, those
  /// of this kernel and all that follow. `extraction` is how long reading the sources took. False
  /// if too little time is left for a kernel that is not the first.
  bool beginTurn(double weight, double weights, double extraction, bool isFirst);
  /// Divides the time that is left anew, once it is known what the kernel of this turn can gain.
  void shareAgain(double weight, double weights);
  double turnLimit() const { return turnLimit_; } ///< seconds; 0: no limit
  double turnUsed() const;                        ///< seconds
  /// Gives the seconds that are left of the turn; empty: no limit.
  std::function<double()> turnLeft() const;
  /// True if too little is left to judge another kernel and to build the program.
  bool isLate() const { return left() <= 2 * quickestBaseline_.value_or(0) + kToBuildPrograms; }

  void ranProgram(double seconds) { programSeconds_ += seconds; }
  double programSeconds() const { return programSeconds_; }

  /// Runs one step of a turn, and adds its time to `spent()` under this name.
  template <class Step> auto time(const std::string &stage, Step step) -> decltype(step()) {
    const auto start = clock_.now();
    const double inProgram = programSeconds_;
    auto result = step();
    const double seconds = Duration(clock_.now() - start).count() - (programSeconds_ - inProgram);
    spent_[stage] += seconds;
    if (stage == "baseline" && result)
      quickestBaseline_ = std::min(quickestBaseline_.value_or(seconds), seconds);
    return result;
  }
  const StageSeconds &spent() const { return spent_; } ///< in the current turn

private:
  QueueFreeClock clock_;
  std::optional<TimeBudget> budget_;
  double programSeconds_ = 0; ///< of runs that time candidates and wins
  double turnProgram_ = 0;    ///< of these, before the current turn
  double turnLimit_ = 0;
  std::chrono::steady_clock::time_point turnStart_;
  std::optional<double> quickestBaseline_; ///< seconds
  StageSeconds spent_;
};

/// How many kernels have time for candidates in a budget of so many seconds; 0: no limit.
std::size_t mostKernels(double seconds);

} // namespace kopt
