// SPDX-License-Identifier: Apache-2.0
// What a proposer that answers at once offers.
#pragma once

#include "driver/search/Proposer.h"

namespace kopt::fakes {

/// For the trial with that index.
inline Result<std::vector<Candidate>> offersOf(ReadyProposer &proposer,
                                               const SearchProblem &problem,
                                               const std::vector<Trial> &trials, std::size_t parent,
                                               std::size_t limit) {
  SearchHistory history;
  history.trials = trials;
  const Ask ask{1, proposer.name(), {trials.at(parent).candidateHash}, "", limit};
  const ProposalContext context{problem, history, ask};
  Offers offers(context);
  KOPT_CHECK(proposer.propose(context, offers));
  return offers.take();
}

/// For `parent`, as the first trial, with `others` after it.
inline Result<std::vector<Candidate>> offersOf(ReadyProposer &proposer,
                                               const SearchProblem &problem,
                                               const Candidate &parent, std::vector<Trial> others,
                                               std::size_t limit) {
  Trial trial;
  trial.candidate = parent;
  trial.candidateHash = parent.contentHash();
  others.insert(others.begin(), trial);
  return offersOf(proposer, problem, others, 0, limit);
}

} // namespace kopt::fakes
