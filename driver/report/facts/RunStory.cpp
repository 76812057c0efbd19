// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/RunStory.h"

#include <algorithm>
#include <cmath>

namespace kopt {

RunStory::RunStory(const RunHistory &history)
    : roundOf(history.trials.size()), secondsAfter(history.trials.size()),
      bestAfter(history.trials.size()) {
  const auto roundWith = [&](int ask) -> Round & { return rounds.at(std::size_t(ask) - 1); };
  for (const Event &event : history.events) {
    if (std::holds_alternative<Ask>(event.what)) {
      Round round;
      round.number = event.round;
      round.asked = &event;
      rounds.push_back(std::move(round));
    } else if (const auto *offer = std::get_if<Offered>(&event.what)) {
      roundWith(offer->ask).offered = offer->candidates.size();
    } else if (const auto *failure = std::get_if<ProposerFailure>(&event.what)) {
      roundWith(failure->ask).failure = failure;
    } else if (const auto *judged = std::get_if<Judged>(&event.what)) {
      if (const auto index = history.indexOf(judged->candidate)) {
        roundOf[*index] = std::size_t(judged->ask) - 1;
        roundWith(judged->ask).trials.push_back(*index);
      }
    } else if (const auto *accept = std::get_if<Accept>(&event.what)) {
      const auto index = history.indexOf(accept->candidate);
      if (index && roundOf[*index])
        rounds[*roundOf[*index]].accepted = accept;
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
