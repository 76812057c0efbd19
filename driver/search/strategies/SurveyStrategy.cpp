// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace kopt {
namespace {

/// How often the baseline is drawn beside another parent: what it has left is the most.
constexpr std::size_t kTurnsOfBaseline = 3;

class SurveyStrategy final : public Strategy {
public:
  explicit SurveyStrategy(SurveySettings settings) : settings_(std::move(settings)) {}

  void observe(const Event &event, const SearchHistory &history) override {
    if (const auto *offer = std::get_if<Offered>(&event.what)) {
      left_[placeOf(offer->ask, history)] = offer->left;
      if (offer->left.empty() && !offer->candidates.empty()) // not known; or those were the last
        left_.erase(placeOf(offer->ask, history));
    } else if (const auto *failure = std::get_if<ProposerFailure>(&event.what)) {
      left_[placeOf(failure->ask, history)] = {};
    } else if (const auto *profiled = std::get_if<Profiled>(&event.what)) {
      profiled_.insert(profiled->candidate);
    }
  }

  Decision decide(const SearchHistory &history) const override {
    std::vector<Ask> open; // without an answer
    for (const Asked &asked : history.asked)
      if (!asked.isAnswered)
        open.push_back(asked.ask);
    if (open.size() + history.waiting.size() >= settings_.open)
      return {Wait()};
    std::vector<std::vector<Ask>> asks; // one list for each parent that has any
    for (const std::string &parent : parentsIn(history))
      if (std::vector<Ask> possible = asksFor(parent, open, history); !possible.empty())
        asks.insert(asks.end(),
                    parent == history.trials.front().candidateHash ? kTurnsOfBaseline : 1,
                    possible);
    if (asks.empty())
      return history.isIdle() ? Decision{Stop{StopReason::Exhausted}} : Decision{Wait()};
    std::mt19937_64 random(settings_.seed * 0x9e3779b97f4a7c15ull + history.asked.size());
    const std::vector<Ask> &drawn = asks[random() % asks.size()];
    const Ask &ask = drawn[random() % drawn.size()];
    if (!profiled_.contains(ask.parents.front()) &&
        ask.parents.front() != history.trials.front().candidateHash)
      return {Profile{ask.parents.front()}};
    return {ask, {{"techniques left", ask.parents.front(), double(drawn.size())}}};
  }

private:
  using Place = std::pair<std::string, std::string>; ///< proposer and parent

  static Place placeOf(int id, const SearchHistory &history) {
    const Ask &ask = history.asked.at(std::size_t(id) - 1).ask;
    return {ask.role, ask.parents.front()};
  }

  /// The baseline first, then the fastest.
  std::vector<std::string> parentsIn(const SearchHistory &history) const {
    std::vector<const Trial *> right;
    for (std::size_t i = 1; i < history.trials.size(); ++i)
      if (const Trial &trial = history.trials[i];
          trial.speedup && (trial.verdict == Verdict::Faster || trial.verdict == Verdict::Same))
        right.push_back(&trial);
    std::ranges::stable_sort(right, std::greater(),
                             [](const Trial *trial) { return trial->speedup->estimate; });
    right.resize(std::min(right.size(), settings_.parents));
    std::vector<std::string> parents = {history.trials.front().candidateHash};
    for (const Trial *trial : right)
      parents.push_back(trial->candidateHash);
    return parents;
  }

  /// One for each technique that is left; where nothing is known yet, for any.
  std::vector<Ask> asksFor(const std::string &parent, const std::vector<Ask> &open,
                           const SearchHistory &history) const {
    std::vector<Ask> asks;
    for (const std::string &role : settings_.proposers) {
      const auto known = left_.find({role, parent});
      const auto add = [&](const std::string &technique) {
        const Ask ask{.role = role, .parents = {parent}, .technique = technique, .limit = 1};
        if (!history.isGivenUp(role) && std::ranges::none_of(open, [&](const Ask &other) {
              return other.role == role && other.parents == ask.parents &&
                     (other.technique == technique || other.technique.empty());
            }))
          asks.push_back(ask);
      };
      if (known == left_.end())
        add("");
      else
        for (const auto &[technique, count] : known->second)
          add(technique);
    }
    return asks;
  }

  SurveySettings settings_;
  std::map<Place, std::map<std::string, int>> left_;
  std::set<std::string> profiled_;
};

} // namespace

std::unique_ptr<Strategy> makeSurveyStrategy(SurveySettings settings) {
  return std::make_unique<SurveyStrategy>(std::move(settings));
}

} // namespace kopt
