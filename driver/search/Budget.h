// SPDX-License-Identifier: Apache-2.0
// The limits that end a search, whatever the strategy decides.
#pragma once

#include "driver/search/Strategy.h"
#include "driver/support/Clock.h"

#include <optional>

namespace kopt {

/// The wall time of a session, and each kernel's share of it.
class TimeBudget {
public:
  /// Starts counting. 0 seconds: no limit.
  TimeBudget(const Clock &clock, double seconds);

  double limit() const { return seconds_; } ///< 0: no limit
  double used() const;
  /// Keeps seconds of the time for what comes at the end. Replaces an earlier call.
  void reserve(double seconds) { reserved_ = seconds; }
  double left() const; ///< and not reserved; at least 0; infinite if there is no limit
  /// The seconds for a kernel with this weight, from the time that is left. `weights` is the total
  /// weight of the remaining kernels, including this one. At least `fewest` seconds, if that much
  /// is left. Time that one kernel does not use goes to the following ones.
  double shareOf(double weight, double weights, double fewest = 0) const;

private:
  const Clock &clock_;
  double seconds_, reserved_ = 0;
  std::chrono::steady_clock::time_point start_;
};

/// The seconds that a search leaves of its time to confirm the best candidate, estimated from the
/// longest trials that were timed; as long as none is faster, what a confirmation takes at least.
double secondsToConfirm(const SearchHistory &history);

/// Unset or 0: no limit.
struct Budget {
  int rounds = 0;
  int trials = 0;
  double seconds = 0; ///< wall time of a kernel, including its baseline and confirmation; earlier,
                      ///< interrupted sessions do not count
  int patience = 0;   ///< rounds in a row without a better incumbent
  std::optional<double> target; ///< speedup; reached by the incumbent's lower bound, or by the
                                ///< baseline if it is at most 1
};

/// The limit of target, trials or seconds that is reached, with its evidence; nothing if none is.
/// Rounds and patience are the strategy's. `seconds` is the wall time that will be used once the
/// next candidate is judged and the winner is confirmed.
std::optional<Decision> budgetReached(const Budget &budget, const SearchHistory &history,
                                      double seconds);

} // namespace kopt
