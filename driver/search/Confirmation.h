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

/// How many times as fast as the other the trial is, both of them Faster, on samples that alternate
/// between the two. Recorded; a resumed run reads it there. Nothing where either no longer runs.
/// Fails as Judge::compare() does.
Result<std::optional<Compare>> compareTrials(const Trial &trial, const Trial &other, int round,
                                             Judge &judge, DecisionLog &decisions);

/// A trial of the best finalist with less of its edits that is as fast; nothing where there is
/// none.
using Trimmer = std::function<Result<std::optional<Trial>>(const Trial &)>;

/// Confirms the fastest candidates, best first, until one holds: the winner of many noisy
/// comparisons is flattered, so only fresh samples count. Of those whose intervals overlap, the one
/// that wins when they are timed against each other is the first, and what `trim` leaves of it
/// comes before it. The winner is its trial of the search with speedup, timings, checks, assurance
/// and reason of the confirmation, and with counters. Nothing where none held. Once `isTimeUp` says
/// so, no further one is asked. Fails as Judge::judge() does.
Result<std::optional<Trial>> confirmWinner(const SearchHistory &history, Judge &judge,
                                           DecisionLog &decisions, const Trimmer &trim = {},
                                           const std::function<bool()> &isTimeUp = {});

} // namespace kopt
