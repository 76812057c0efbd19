// SPDX-License-Identifier: Apache-2.0
// When a search ends, whatever the strategy thinks.
#pragma once

#include "driver/search/SearchHistory.h"
#include "driver/support/Clock.h"

#include <optional>

namespace kopt {

/// The wall time of a session, and what each of its kernels may take of it.
class TimeBudget {
public:
  /// Counts from now on. 0 seconds: there is no limit.
  TimeBudget(const Clock &clock, double seconds);

  double limit() const { return seconds_; } ///< 0: there is none
  double used() const;
  double left() const; ///< at least 0; infinite where there is no limit
  /// Of what is left, the part of a kernel of this weight, where the kernels whose turn it still is
  /// (itself included) have `weights` together, and at least `fewest` seconds: what one does not
  /// use goes to those after it.
  double shareOf(double weight, double weights, double fewest = 0) const;

private:
  const Clock &clock_;
  double seconds_;
  std::chrono::steady_clock::time_point start_;
};

/// What the confirmation of the best candidates of a search will take, as far as their trials tell:
/// a search leaves so much of its time.
double secondsToConfirm(const SearchHistory &history);

/// Unset or 0: no limit.
struct Budget {
  int rounds = 0;
  int trials = 0;
  double seconds = 0; ///< wall time of a kernel, its baseline and confirmation included; earlier,
                      ///< interrupted parts do not count
  int patience = 0;   ///< rounds in a row without a better incumbent
  std::optional<double> target; ///< speedup whose lower bound ends the search
};

/// The limit that is reached, with its evidence; nothing while there is none. `seconds` is the wall
/// time that is used, or that will be once the next candidate is judged and the winner confirmed.
std::optional<Decision> budgetReached(const Budget &budget, const SearchHistory &history,
                                      double seconds);

} // namespace kopt
