// SPDX-License-Identifier: Apache-2.0
// Confirms the best candidates of a search on fresh inputs and fresh samples.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/search/Journal.h"
#include "driver/search/SearchHistory.h"

#include <functional>
#include <optional>

namespace kopt {

/// The most candidates that are confirmed. It is the number of claims that may be made on fresh
/// samples, so VerdictPolicy::candidates has this value.
inline constexpr int kMostConfirmations = 3;

/// A gain above this comes from work that is left out, rather than done faster.
inline constexpr double kLargeGain = 10;

/// How many times as fast as `other` the candidate of `trial` is, on samples that alternate between
/// the two. Both trials must be Faster. The result is recorded, and a resumed run reads it from the
/// record. Nothing if either no longer runs. Fails as Judge::compare() does.
Result<std::optional<Compare>> compareTrials(const Trial &trial, const Trial &other, int round,
                                             Judge &judge, Journal &journal);

/// Of a gain that is hard to believe, what the winner no longer does: instructions, bytes, and the
/// loops that had them, as the end of a sentence. Empty for other gains.
std::string whatVanished(const Trial &before, const Trial &after);

/// A trial of the best finalist with fewer edits that is as fast; nothing if there is none.
using Trimmer = std::function<Result<std::optional<Trial>>(const Trial &)>;

/// How many times as fast each candidate is in the user's program; nothing for one that was not
/// timed there.
using ProgramScreen =
    std::function<Result<std::vector<std::optional<double>>>(const std::vector<const Trial *> &)>;

/// What confirmWinner() asks for; each may be empty.
struct ConfirmationSteps {
  Trimmer trim{};
  ProgramScreen screen{};
  std::function<bool()> isTimeUp{};
};

/// Confirms the fastest candidates, best first, until one holds. The best of many noisy
/// measurements is overestimated, so only fresh samples count. Candidates whose intervals overlap
/// are timed against each other, and the fastest comes first. With `screen`, those they were made
/// from are candidates, too, and the order is that of the times in the program. What `trim` leaves
/// of the first comes even before it. Returns the winner's trial of the search, with counters, and
/// with speedup, timings, checks, assurance and reason of the confirmation; nothing if none held.
/// After the first one, no further candidate is confirmed once `isTimeUp` returns true. Fails as
/// Judge::judge() does.
Result<std::optional<Trial>> confirmWinner(const SearchHistory &history, Judge &judge,
                                           Journal &journal, const ConfirmationSteps &steps = {});

} // namespace kopt
