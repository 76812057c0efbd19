// SPDX-License-Identifier: Apache-2.0
// Removes edits that a winner does not need. Each step of a search builds on the best candidate so
// far, so a winner may have edits that gained something once but no longer do.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/search/Journal.h"
#include "driver/search/Proposer.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// An edit of a candidate that can be removed.
struct CandidateEdit {
  std::string title; ///< "TILE = 32", "the launch", "lines 4 to 7 of transpose()"
  Candidate without; ///< the candidate without the edit
};

/// The edits of a candidate of `specialization`, whose baseline's slice is `sliceText`: new values
/// of constants, the launch, changed chunks, the runs of changed lines in a chunk with several, and
/// added declarations and includes. An edit whose removal would leave the baseline is left out.
std::vector<CandidateEdit> editsOf(const Candidate &candidate, const Specialization &specialization,
                                   const std::string &sliceText);

/// The most candidates that one trimming judges.
inline constexpr int kMostTrims = 8;

/// The winner without the edits that gain nothing. Each edit in turn is removed, and stays removed
/// if the rest is still Faster and, timed against the version with the edit, not slower. Nothing if
/// every edit gains something. Ends early once `isTimeUp` returns true. Comparisons are recorded,
/// and a resumed run reads them from the record. Fails as Judge::judge() does.
Result<std::optional<Trial>> trimWinner(const SearchProblem &problem, const Trial &winner,
                                        int round, Judge &judge, Journal &journal,
                                        const std::function<bool()> &isTimeUp = {});

} // namespace kopt
