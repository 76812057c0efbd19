// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Budget.h"

namespace kopt {

std::optional<Decision> budgetReached(const Budget &budget, const SearchHistory &history,
                                      double seconds) {
  const auto stop = [&](StopReason reason, double limit, Evidence evidence) {
    Decision decision;
    decision.round = history.round;
    decision.what = Stop{reason, limit};
    decision.evidence = {std::move(evidence)};
    return decision;
  };
  const Trial &incumbent = history.best();
  if (budget.target && incumbent.verdict == Verdict::Faster && incumbent.speedup &&
      incumbent.speedup->low >= *budget.target)
    return stop(StopReason::Target, *budget.target,
                {"speedup low", incumbent.candidateHash, incumbent.speedup->low});
  if (budget.rounds > 0 && history.round >= budget.rounds)
    return stop(StopReason::Rounds, budget.rounds, {"rounds", "", double(history.round)});
  if (budget.trials > 0 && history.trials.size() >= std::size_t(budget.trials))
    return stop(StopReason::Trials, budget.trials, {"trials", "", double(history.trials.size())});
  if (budget.seconds > 0 && seconds >= budget.seconds)
    return stop(StopReason::Seconds, budget.seconds, {"seconds", "", seconds});
  if (budget.patience > 0 && history.roundsSinceGain >= budget.patience)
    return stop(StopReason::Patience, budget.patience,
                {"rounds since gain", "", double(history.roundsSinceGain)});
  return std::nullopt;
}

} // namespace kopt
