// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"
#include "driver/search/policy/Arms.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace kopt {
namespace {

/// How often the baseline is drawn beside another parent: what it has left is the most.
constexpr std::size_t kTurnsOfBaseline = 3;

class SurveyStrategy final : public Strategy {
public:
  explicit SurveyStrategy(const SurveySettings &settings)
      : settings_(settings), arms_(settings.proposers) {}

  void observe(const Event &event, const SearchHistory &history) override {
    arms_.observe(event, history);
    if (const auto *profiled = std::get_if<Profiled>(&event.what))
      profiled_.insert(profiled->candidate);
  }

  Decision decide(const SearchHistory &history) const override {
    if (history.comingTrials() >= settings_.open)
      return {Wait()};
    std::vector<std::vector<Ask>> asks; // one list for each parent that has any
    const std::string &baseline = history.trials.front().candidateHash;
    for (const std::string &parent : parentsIn(history))
      if (const std::vector<Ask> possible = arms_.of(parent, history); !possible.empty())
        asks.insert(asks.end(), parent == baseline ? kTurnsOfBaseline : 1, possible);
    if (asks.empty())
      return history.isIdle() ? Decision{Stop{StopReason::Exhausted}} : Decision{Wait()};
    std::mt19937_64 random(settings_.seed * 0x9e3779b97f4a7c15ull + history.asked.size());
    const std::vector<Ask> &drawn = asks[random() % asks.size()];
    const Ask &ask = drawn[random() % drawn.size()];
    const std::string &parent = ask.parents.front();
    if (parent != baseline && !profiled_.contains(parent))
      return {Profile{parent}};
    return {ask, {{"techniques left", parent, double(drawn.size())}}};
  }

private:
  /// The baseline first, then the fastest.
  std::vector<std::string> parentsIn(const SearchHistory &history) const {
    std::vector<const Trial *> right;
    for (std::size_t i = 1; i < history.trials.size(); ++i)
      if (mayBeParent(history.trials[i]))
        right.push_back(&history.trials[i]);
    std::ranges::stable_sort(right, std::greater(),
                             [](const Trial *trial) { return trial->speedup->estimate; });
    right.resize(std::min(right.size(), settings_.parents));
    std::vector<std::string> parents = {history.trials.front().candidateHash};
    for (const Trial *trial : right)
      parents.push_back(trial->candidateHash);
    return parents;
  }

  SurveySettings settings_;
  Arms arms_;
  std::set<std::string> profiled_;
};

} // namespace

std::unique_ptr<Strategy> makeSurveyStrategy(const SurveySettings &settings) {
  return std::make_unique<SurveyStrategy>(settings);
}

} // namespace kopt
