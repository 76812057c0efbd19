// SPDX-License-Identifier: Apache-2.0
// What a winner changes and does not need. Each step of a search builds on the best candidate so
// far, so a winner carries edits that gained once and gain nothing now.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/search/DecisionLog.h"
#include "driver/search/proposers/Proposer.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// An edit of a candidate that can be taken out of it.
struct CandidateEdit {
  std::string title; ///< "TILE = 32", "the launch", "lines 4 to 7 of transpose()"
  Candidate without; ///< the candidate that is left
};

/// The edits of a candidate of `specialization`, whose baseline has `sliceText`: new values of
/// constants, the launch, chunks, the runs of changed lines within a chunk that has several, and
/// what was added beside. Empty where there is only one: without it, it would be the baseline.
std::vector<CandidateEdit> editsOf(const Candidate &candidate, const Specialization &specialization,
                                   const std::string &sliceText);

/// Candidates that one trimming judges at most.
inline constexpr int kMostTrims = 8;

/// The winner without the edits that gain nothing: each is taken out and stays out where the rest
/// is still Faster and no slower, timed against the winner. Nothing where all of them gain. Ends
/// early once `isTimeUp` says so. What is found is recorded; a resumed run reads it there. Fails as
/// Judge::judge() does.
Result<std::optional<Trial>> trimWinner(const SearchProblem &problem, const Trial &winner,
                                        int round, Judge &judge, DecisionLog &decisions,
                                        const std::function<bool()> &isTimeUp = {});

} // namespace kopt
