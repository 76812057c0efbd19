// SPDX-License-Identifier: Apache-2.0
// The records of a run put together: which decision asked for which trials, and what came of them.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// One ask of the strategy and all that followed from it.
struct Round {
  int number = 0;
  const Decision *asked = nullptr; ///< holds an Ask
  std::optional<std::size_t>
      offered; ///< candidates; nothing where the proposer failed or was stopped
  const ProposerFailure *failure = nullptr;
  std::vector<std::size_t> trials;  ///< indices of RunHistory::trials
  const Accept *accepted = nullptr; ///< the new incumbent, where there is one

  const Ask &ask() const { return std::get<Ask>(asked->what); }
};

/// Indices of the incumbent and of the seconds that evaluations had taken, trial by trial.
struct RunStory {
  explicit RunStory(const RunHistory &history);

  std::vector<Round> rounds;
  /// Of each trial: the round that asked for it; nothing for the baseline and what came after the
  /// search.
  std::vector<std::optional<std::size_t>> roundOf;
  /// Seconds of evaluation up to and including each trial, from its own records: evaluations of
  /// several GPUs, and builds that were begun ahead, overlap in wall time.
  std::vector<double> secondsAfter;
  /// Fastest verdict `faster` of the search so far; 1 until there is one.
  std::vector<double> bestAfter;
};

} // namespace kopt
