// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Budget.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace kopt {
namespace {

/// What a confirmation on a GPU takes, as found on twelve kernels of HeCBench on an H200: seconds
/// for what does not depend on the kernel (processes, sanitizers, counters), and times the seconds
/// that a trial of the search spends in its checks and in timing. What only winners are asked
/// learns when there is one; it is bounded, and left out where time is short.
constexpr double kConfirmationFixed = 3, kConfirmationPerCheck = 2, kConfirmationPerTiming = 4.5,
                 kLearningPerCheck = 12, kMostLearning = 12;
/// Where times are modelled, a confirmation takes so many times the seconds of a trial.
constexpr double kConfirmationPerTrial = 3;

/// Stages of what only winners are asked, which a gain that is hard to believe is asked at once.
constexpr std::array<std::string_view, 3> kOfWinners = {"verify/coverage", "verify/emulated",
                                                        "verify/sanitizer"};

/// The seconds that a trial took on a device.
struct TrialSeconds {
  double checks = 0, timing = 0, all = 0;
  bool hasLearned = false; ///< what winners are asked was learned during it

  explicit TrialSeconds(const Trial &trial) : all(trial.seconds) {
    for (const auto &[stage, seconds] : trial.stages) {
      if (stage.starts_with("verify/") && std::ranges::count(kOfWinners, stage) == 0)
        checks += seconds;
      hasLearned |= stage == "baseline/checks";
      if (stage.starts_with("time/"))
        timing += seconds;
      if (stage.starts_with("build/") || stage == "wait") // a confirmation has the module
        all -= seconds;
    }
  }
};

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
  double checks = 0, timing = 0, all = 0;
  bool isTimed = false, isFaster = false, isModelled = false, hasLearned = false;
  for (std::size_t i = 1; i < history.trials.size(); ++i) {
    const Trial &trial = history.trials[i];
    if (!trial.speedup)
      continue;
    const TrialSeconds seconds(trial);
    checks = std::max(checks, seconds.checks);
    timing = std::max(timing, seconds.timing);
    all = std::max(all, seconds.all);
    isTimed = true;
    isFaster |= trial.verdict == Verdict::Faster;
    isModelled |= trial.speedup->modelled;
    hasLearned |= seconds.hasLearned;
  }
  if (!isTimed)
    return 0;
  if (isModelled)
    return kConfirmationPerTrial * all;
  const double learning =
      isFaster && !hasLearned ? std::min(kMostLearning, kLearningPerCheck * checks) : 0;
  return kConfirmationFixed + kConfirmationPerCheck * checks + kConfirmationPerTiming * timing +
         learning;
}

std::optional<Decision> budgetReached(const Budget &budget, const SearchHistory &history,
                                      double seconds) {
  const Trial &incumbent = history.best();
  const double sure =
      incumbent.verdict == Verdict::Faster && incumbent.speedup ? incumbent.speedup->low : 1;
  if (budget.target && sure >= *budget.target) // a target of at most 1 is the baseline's own time
    return Decision{Stop{StopReason::Target, *budget.target},
                    {{"speedup low", incumbent.candidateHash, sure}}};
  if (budget.trials > 0 && history.trials.size() >= std::size_t(budget.trials))
    return Decision{Stop{StopReason::Trials, double(budget.trials)},
                    {{"trials", "", double(history.trials.size())}}};
  if (budget.seconds > 0 && seconds >= budget.seconds)
    return Decision{Stop{StopReason::Seconds, budget.seconds}, {{"seconds", "", seconds}}};
  return std::nullopt;
}

} // namespace kopt
