// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/RunStory.h"

#include <algorithm>
#include <cmath>

namespace kopt {

RunStory::RunStory(const RunHistory &history)
    : roundOf(history.trials.size()), secondsAfter(history.trials.size()),
      bestAfter(history.trials.size()) {
  std::size_t next = history.baseline() ? 1 : 0; // trials are in the order of their rounds
  for (const Decision &decision : history.decisions) {
    if (std::holds_alternative<Ask>(decision.what)) {
      Round round;
      round.number = decision.round;
      round.asked = &decision;
      rounds.push_back(std::move(round));
      continue;
    }
    if (rounds.empty())
      continue;
    Round &round = rounds.back();
    if (const auto *failure = std::get_if<ProposerFailure>(&decision.what)) {
      round.failure = failure;
    } else if (const auto *accept = std::get_if<Accept>(&decision.what)) {
      round.accepted = accept;
    } else if (const auto *offer = std::get_if<Offered>(&decision.what)) {
      round.offered = offer->candidates;
      // An interrupted round has fewer trials than candidates.
      while (round.trials.size() < offer->candidates && next < history.trials.size() &&
             history.trials[next].purpose == Purpose::Search &&
             history.trials[next].candidate.proposer == offer->role) {
        roundOf[next] = rounds.size() - 1;
        round.trials.push_back(next++);
      }
    }
  }
  double seconds = 0, best = 1;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const Trial &trial = history.trials[i];
    if (std::isfinite(trial.seconds))
      seconds += trial.seconds;
    if (trial.purpose == Purpose::Search && trial.verdict == Verdict::Faster && trial.speedup)
      best = std::max(best, trial.speedup->estimate);
    secondsAfter[i] = seconds;
    bestAfter[i] = best;
  }
}

} // namespace kopt
