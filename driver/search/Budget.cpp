// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Budget.h"

#include <algorithm>
#include <limits>

namespace kopt {
namespace {

/// Unlike a trial of the search, a confirmation runs every check, and times in several processes.
/// Where little time is left, it only verifies and times.
constexpr double kConfirmationPerTrial = 3, kLeastConfirmationPerTrial = 2;
/// On a GPU, checks that run only for winners learn when there is a winner. On ten programs on an
/// H200 that took twice the seconds of the baseline.
constexpr double kLearningPerBaseline = 2;

} // namespace

TimeBudget::TimeBudget(const Clock &clock, double seconds)
    : clock_(clock), seconds_(seconds), start_(clock.now()) {}

double TimeBudget::used() const { return Duration(clock_.now() - start_).count(); }

double TimeBudget::left() const {
  return seconds_ > 0 ? std::max(0.0, seconds_ - reserved_ - used())
                      : std::numeric_limits<double>::infinity();
}

double TimeBudget::shareOf(double weight, double weights, double fewest) const {
  const double share = weights > 0 ? left() * std::min(1.0, weight / weights) : left();
  return std::min(left(), std::max(share, fewest));
}

double secondsToConfirm(const SearchHistory &history) {
  double longest = 0, longestTimed = 0;
  for (const Trial &trial : history.trials) {
    if (&trial == &history.trials.front())
      continue;
    if (trial.verdict == Verdict::Faster)
      longest = std::max(longest, trial.seconds);
    if (trial.speedup)
      longestTimed = std::max(longestTimed, trial.seconds);
  }
  if (longest == 0)
    return kLeastConfirmationPerTrial * longestTimed;
  const Trial &baseline = history.trials.front();
  const bool isModelled = baseline.speedup && baseline.speedup->modelled;
  return kConfirmationPerTrial * longest +
         (isModelled ? 0 : kLearningPerBaseline * baseline.seconds);
}

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
