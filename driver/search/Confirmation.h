// SPDX-License-Identifier: Apache-2.0
// The last word on a search: its best candidates again, on fresh inputs and fresh samples.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/search/DecisionLog.h"
#include "driver/search/SearchHistory.h"

#include <optional>

namespace kopt {

/// Confirms the fastest candidates, best first, until one holds: the winner of many noisy
/// comparisons is flattered, so only fresh samples count. At most three are tried. The winner is
/// its trial of the search with speedup, timings, checks, assurance and reason of the confirmation,
/// and with counters. Nothing where none held. Fails as Judge::judge() does.
Result<std::optional<Trial>> confirmWinner(const SearchHistory &history, Judge &judge,
                                           DecisionLog &decisions);

} // namespace kopt
