// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/search/proposers/TwoBodies.h"

#include <algorithm>

namespace kopt {
namespace {

class TurnStrategy final : public Strategy {
public:
  explicit TurnStrategy(std::size_t batch) : batch_(batch) {}

  Decision decide(const SearchHistory &history) override {
    Decision decision;
    decision.round = history.round;
    const std::vector<std::string> parents = {history.best().candidateHash};
    for (const std::string &role : history.followers) {
      if (history.failed.contains(role) || history.exhausted.contains({role, parents}))
        continue;
      const std::vector<ClassPair> pairs =
          classPairs(history.trials, history.best(), history.weights);
      const std::vector<Repairable> open = repairables(history.trials);
      if (pairs.empty() && open.empty())
        break;
      decision.what = Ask{role, parents, "", batch_};
      if (!open.empty())
        decision.evidence.push_back({"wrong on launches beyond the workload",
                                     open.front().trial->candidateHash,
                                     double(open.front().wrong.size())});
      if (!pairs.empty())
        decision.evidence.push_back({"estimate by launch class",
                                     pairs.front().special->candidateHash, pairs.front().estimate});
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
