// SPDX-License-Identifier: Apache-2.0
// When a search ends, whatever the strategy thinks.
#pragma once

#include "driver/search/SearchHistory.h"

#include <optional>

namespace kopt {

/// Unset or 0: no limit.
struct Budget {
  int rounds = 0;
  int trials = 0;
  double seconds = 0; ///< wall time of the search; earlier, interrupted parts do not count
  int patience = 0;   ///< rounds in a row without a better incumbent
  std::optional<double> target; ///< speedup whose lower bound ends the search
};

/// The limit that is reached, with its evidence; nothing while there is none. `seconds` is the wall
/// time since the search began.
std::optional<Decision> budgetReached(const Budget &budget, const SearchHistory &history,
                                      double seconds);

} // namespace kopt
