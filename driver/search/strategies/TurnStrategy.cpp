// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"
#include "driver/search/proposers/LaunchClasses.h"

#include <algorithm>

namespace kopt {
namespace {

/// The trials that are faster than the best candidate, or than the original, on some launches only.
std::size_t splitTrials(const SearchHistory &history) {
  return std::size_t(std::ranges::count_if(history.trials, [&](const Trial &trial) {
    return isSplit(launchWins(trial, history.best())) ||
           isSplit(launchWins(trial, history.trials.front()));
  }));
}

class TurnStrategy final : public Strategy {
public:
  explicit TurnStrategy(std::size_t batch) : batch_(batch) {}

  Decision decide(const SearchHistory &history) override {
    Decision decision;
    decision.round = history.round;
    const std::vector<std::string> parents = {history.best().candidateHash};
    const std::size_t splits = splitTrials(history);
    for (const std::string &role : history.followers) {
      if (splits == 0 || history.failed.contains(role) ||
          history.exhausted.contains({role, parents}))
        continue;
      decision.what = Ask{role, parents, "", batch_};
      decision.evidence = {{"trials faster on some launches only", "", double(splits)}};
      return decision;
    }
    const std::size_t turn = std::size_t(history.round - history.followed);
    for (std::size_t i = 0; i < history.proposers.size(); ++i) {
      const std::string &role = history.proposers[(turn + i) % history.proposers.size()];
      if (history.failed.contains(role) || history.exhausted.contains({role, parents}))
        continue;
      decision.what = Ask{role, parents, "", batch_};
      decision.evidence = {{"round", "", double(history.round)}};
      if (const Trial &best = history.best(); best.speedup)
        decision.evidence.push_back({"speedup", best.candidateHash, best.speedup->estimate});
      return decision;
    }
    const bool allFailed = std::ranges::all_of(
        history.proposers, [&](const auto &role) { return history.failed.contains(role); });
    decision.what = Stop{allFailed && !history.proposers.empty() ? StopReason::ProposersFailed
                                                                 : StopReason::Exhausted};
    decision.evidence = {{"proposers left", "", 0}};
    return decision;
  }

private:
  std::size_t batch_;
};

} // namespace

std::unique_ptr<Strategy> makeTurnStrategy(std::size_t batch) {
  return std::make_unique<TurnStrategy>(batch);
}

} // namespace kopt
