// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"

#include <fmt/format.h>

namespace kopt {

SearchStep TurnStrategy::next(const SearchState &state) {
  for (std::size_t i = 0; i < state.proposers.size(); ++i) {
    const std::size_t proposer = (std::size_t(state.round) + i) % state.proposers.size();
    if (!state.exhausted[proposer])
      return {false, fmt::format("turn of '{}'", state.proposers[proposer]), proposer, batch_};
  }
  return {true, "no proposer has anything left to try", 0, 0};
}

bool improves(const Trial &candidate, const Trial &incumbent, double minGain) {
  if (candidate.verdict != Verdict::Faster || !candidate.speedup)
    return false;
  const double best =
      incumbent.speedup && incumbent.verdict == Verdict::Faster ? incumbent.speedup->estimate : 1.0;
  return candidate.speedup->low > best * (1 + minGain);
}

std::optional<std::string> budgetReached(const Budget &budget, const SearchState &state,
                                         double elapsedSeconds) {
  if (budget.target && state.incumbent && state.incumbent->verdict == Verdict::Faster &&
      state.incumbent->speedup->low >= *budget.target)
    return fmt::format("the target of {:.2f}x is reached", *budget.target);
  if (budget.rounds > 0 && state.round >= budget.rounds)
    return fmt::format("{} rounds are done", budget.rounds);
  if (budget.trials > 0 && int(state.history->size()) >= budget.trials)
    return fmt::format("{} trials are done", budget.trials);
  if (budget.seconds > 0 && elapsedSeconds >= budget.seconds)
    return fmt::format("the time budget of {:.0f} s is used up", budget.seconds);
  if (budget.patience > 0 && state.roundsSinceGain >= budget.patience)
    return fmt::format("{} rounds brought nothing better", budget.patience);
  return std::nullopt;
}

} // namespace kopt
