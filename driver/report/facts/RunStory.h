// SPDX-License-Identifier: Apache-2.0
// Combines the records of a run: which ask led to which trials, and what became of them.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <optional>
#include <vector>

namespace kopt {

/// One Ask of the strategy and everything that followed from it.
struct Round {
  int number = 0;
  const Event *asked = nullptr; ///< holds an Ask
  /// Number of candidates; nothing if the proposer failed or was stopped.
  std::optional<std::size_t> offered;
  const ProposerFailure *failure = nullptr;
  std::vector<std::size_t> trials;  ///< indices of RunHistory::trials
  const Accept *accepted = nullptr; ///< the new incumbent, if any

  const Ask &ask() const { return std::get<Ask>(asked->what); }
};

/// The rounds of a run, and the state of the search at each trial.
struct RunStory {
  explicit RunStory(const RunHistory &history);

  std::vector<Round> rounds;
  /// For each trial, the index of the round that asked for it; nothing for the baseline and for
  /// trials after the search.
  std::vector<std::optional<std::size_t>> roundOf;
  /// Seconds of evaluation up to and including each trial, from its own records: evaluations on
  /// several GPUs, and builds that begin early, overlap in wall time.
  std::vector<double> secondsAfter;
  /// For each trial, the best speedup of a `faster` verdict up to then; 1 until there is one.
  std::vector<double> bestAfter;
};

} // namespace kopt
