// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Portfolio.h"

#include "driver/search/policy/Arms.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <unordered_map>
#include <utility>

namespace kopt {
namespace {

/// A parent that is slower than this share of the best one is not worth another trial: with it, the
/// next technique would have to gain a quarter before it begins to count.
constexpr double kLeastOfBest = 0.8;

/// Trials until a follower is asked again.
constexpr std::size_t kBetweenFollows = 6;

/// What the portfolio knows of a trial.
struct Node {
  double logSpeedup = 0;        ///< over the baseline
  std::set<std::string> family; ///< techniques of it and of its ancestors
};

class Portfolio final : public Strategy {
public:
  explicit Portfolio(const PortfolioSettings &settings)
      : settings_(settings), arms_(settings.proposers), beliefs_(settings.priors) {}

  void observe(const Event &event, const SearchHistory &history) override {
    arms_.observe(event, history);
    if (const auto *ask = std::get_if<Ask>(&event.what);
        ask && std::ranges::count(settings_.followers, ask->role) > 0)
      followedAt_ = history.trials.size();
    if (std::holds_alternative<Judged>(event.what))
      learn(history.trials.back(), history);
    else if (const auto *profiled = std::get_if<Profiled>(&event.what))
      profiled_ = profiled->candidate;
    else if (std::holds_alternative<Accept>(event.what))
      improved_.clear();
  }

  Decision decide(const SearchHistory &history) const override {
    if (!improved_.empty())
      return acceptance(*history.find(improved_), profiled_);
    if (history.comingTrials() >= settings_.open)
      return {Wait()};
    if (settings_.patience > 0 && withoutGain_ >= settings_.patience)
      return history.isIdle() ? Decision{Stop{StopReason::Patience, double(settings_.patience)},
                                         {{"trials since gain", "", double(withoutGain_)}}}
                              : Decision{Wait()};
    if (auto follower = askFollower(history))
      return std::move(*follower);
    std::optional<Decision> best;
    double most = -1;
    for (const std::string &parent : frontier(history))
      for (Ask &ask : arms_.of(parent, history))
        if (const double promise = promiseOf(ask, history); promise > most) {
          most = promise;
          const Expectation expected = beliefs_.of(ask.technique);
          best = Decision{std::move(ask),
                          {{"expected excess over the best, a second", parent, promise},
                           {"expected log gain", "", expected.mean},
                           {"its deviation", "", expected.deviation},
                           {"trials of the technique", "", double(expected.trials)}}};
        }
    if (best)
      return std::move(*best);
    return history.isIdle() ? Decision{Stop{StopReason::Exhausted}} : Decision{Wait()};
  }

private:
  void learn(const Trial &trial, const SearchHistory &history) {
    const std::vector<std::string> &parents = trial.candidate.parents;
    const auto known = parents.empty() ? nodes_.end() : nodes_.find(parents.front());
    Node node = known == nodes_.end() ? Node() : known->second;
    const double before = node.logSpeedup;
    std::optional<double> gain;
    if (isRight(trial)) {
      if (trial.speedup && trial.speedup->estimate > 0)
        node.logSpeedup = std::log(trial.speedup->estimate);
      gain = node.logSpeedup - before;
    }
    beliefs_.add(trial.candidate.technique, gain, trial.seconds);
    node.family.insert(trial.candidate.technique);
    ++withoutGain_;
    const Trial *next = improved_.empty() ? &history.best() : history.find(improved_);
    if (improves(trial, *next, settings_.minGain)) {
      improved_ = trial.candidateHash;
      withoutGain_ = 0;
    }
    if (mayBeParent(trial)) {
      best_ = std::max(best_, node.logSpeedup);
      order_.emplace_back(node.logSpeedup, trial.candidateHash);
    }
    nodes_.insert_or_assign(trial.candidateHash, std::move(node));
  }

  /// The baseline, and the fastest of each family.
  std::vector<std::string> frontier(const SearchHistory &history) const {
    std::vector<std::pair<double, std::string>> fastest = order_;
    std::ranges::stable_sort(fastest, std::greater(), &std::pair<double, std::string>::first);
    std::vector<std::string> parents = {history.trials.front().candidateHash};
    std::set<std::set<std::string>> families;
    for (const auto &[logSpeedup, candidate] : fastest)
      if (parents.size() <= settings_.width && logSpeedup >= best_ + std::log(kLeastOfBest) &&
          families.insert(nodes_.at(candidate).family).second)
        parents.push_back(candidate);
    return parents;
  }

  std::optional<Decision> askFollower(const SearchHistory &history) const {
    if (history.trials.size() < followedAt_ + kBetweenFollows)
      return std::nullopt;
    for (const std::string &role : settings_.followers)
      if (!history.isGivenUp(role))
        if (auto reasons = reasonsToFollow(history, settings_.weights); !reasons.empty())
          return Decision{Ask{.role = role,
                              .parents = {history.best().candidateHash},
                              .technique = "",
                              .limit = kBetweenFollows},
                          std::move(reasons)};
    return std::nullopt;
  }

  double promiseOf(const Ask &ask, const SearchHistory &history) const {
    const auto known = nodes_.find(ask.parents.front());
    const double from = known == nodes_.end() ? 0 : known->second.logSpeedup;
    const Expectation expected = beliefs_.of(ask.technique);
    const double excess =
        expectedExcess(from + expected.mean, settings_.explore * expected.deviation, best_);
    // What is on its way already may tell whether more of the same is worth it.
    const auto coming = std::ranges::count_if(history.waiting, [&](const WaitingCandidate &each) {
      return each.candidate.technique == ask.technique && each.candidate.parents == ask.parents;
    });
    return expected.valid * excess / std::max(expected.seconds, 1e-3) / double(1 + coming);
  }

  PortfolioSettings settings_;
  Arms arms_;
  Beliefs beliefs_;
  std::unordered_map<std::string, Node> nodes_;       ///< of each judged candidate
  std::vector<std::pair<double, std::string>> order_; ///< those that may be parents
  double best_ = 0;                                   ///< log speedup of the fastest right trial
  std::size_t withoutGain_ = 0;
  std::size_t followedAt_ = 0; ///< trials when a follower was asked last
  std::string improved_;       ///< the candidate to accept; empty: none
  std::string profiled_;       ///< the last candidate whose counters were read
};

} // namespace

std::unique_ptr<Strategy> makePortfolio(const PortfolioSettings &settings) {
  return std::make_unique<Portfolio>(settings);
}

} // namespace kopt
