// SPDX-License-Identifier: Apache-2.0
// The last word on a search: its best candidates again, on fresh inputs and fresh samples.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/search/DecisionLog.h"
#include "driver/search/SearchHistory.h"

#include <functional>
#include <optional>

namespace kopt {

/// Candidates that are confirmed at most. As many claims may be made on fresh samples, so
/// VerdictPolicy::candidates is this.
inline constexpr int kMostConfirmations = 3;

/// Confirms the fastest candidates, best first, until one holds: the winner of many noisy
/// comparisons is flattered, so only fresh samples count. Of those whose intervals overlap, the one
/// that wins when they are timed against each other is the first. The winner is
/// its trial of the search with speedup, timings, checks, assurance and reason of the confirmation,
/// and with counters. Nothing where none held. Once `isTimeUp` says so, no further one is asked.
/// Fails as Judge::judge() does.
Result<std::optional<Trial>> confirmWinner(const SearchHistory &history, Judge &judge,
                                           DecisionLog &decisions,
                                           const std::function<bool()> &isTimeUp = {});

} // namespace kopt
