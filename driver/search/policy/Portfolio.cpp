// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Portfolio.h"

#include "driver/llm/contract/Contract.h"
#include "driver/search/Proposer.h"
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

/// The chance that a rewrite does again what it did before, on the same text.
constexpr double kAgain = 0.9;

/// Of two asks that promise the same within this factor the first is taken.
constexpr double kClearly = 1 + 1e-9;

/// Trials until a follower is asked again.
constexpr std::size_t kBetweenFollows = 6;

/// How much of a trial without a gain one of other values of tunables is. The best of a space comes
/// later than the best rewrite: of five recorded spaces of 4,000 to 18,000 points, 0.969 of the
/// optimum is found where 24 trials without a gain end a search, 0.993 with 60.
constexpr double kPatienceOfNumbers = 0.4;
/// Points of a space that are tried to learn from: that they gain nothing says little of the space.
constexpr int kFirstNumbers = 12;
/// Points of a model's own tunables that are tried at once: the values that it wrote are a guess,
/// and say little of what its idea is worth.
constexpr std::size_t kFirstOfModel = 4;

struct Tally {
  std::size_t gained = 0; ///< trials that did
  int numbers = 0;        ///< trials of other values that gained nothing
  double withoutGain = 0; ///< trials since the last gain, as far as they count
};

/// What the portfolio knows of a trial.
struct Node {
  double logSpeedup = 0;        ///< over the baseline
  std::set<std::string> family; ///< techniques of it and of its ancestors
};

std::map<std::string, Prior> weighted(std::map<std::string, Prior> priors, double weight) {
  if (weight <= 0)
    return {};
  for (auto &[technique, prior] : priors)
    prior.weight = weight;
  return priors;
}

/// The trial, or its nearest ancestor whose counters were read; null: none.
const Trial *diagnosed(const std::string &candidate, const SearchHistory &history) {
  const Trial *trial = history.find(candidate);
  while (trial && trial->diagnosis.state.empty() && trial->diagnosis.hits.empty())
    trial =
        trial->candidate.parents.empty() ? nullptr : history.find(trial->candidate.parents.front());
  return trial;
}

class Portfolio final : public Strategy {
public:
  explicit Portfolio(PortfolioSettings settings)
      : settings_(std::move(settings)), arms_(settings_.proposers),
        beliefs_(weighted(settings_.priors, settings_.policy.priorWeight)) {
    if (settings_.policy.gates)
      for (const PolicyGate &gate : settings_.gates)
        behindGates_.push_back(changed(settings_.policy, gate.set).value()); // load() checked it
    if (settings_.policy.priorWeight <= 0)
      settings_.precedents = {};
    for (const auto &[candidate, tried] : settings_.precedents.ofText)
      before_[{tried.parent, tried.technique}].emplace(candidate, tried);
  }

  void observe(const Event &event, const SearchHistory &history) override {
    arms_.observe(event, history);
    if (const auto *offer = std::get_if<Offered>(&event.what))
      compareWithBefore(*offer, history.asked.at(std::size_t(offer->ask) - 1).ask);
    if (const auto *ask = std::get_if<Ask>(&event.what)) {
      if (std::ranges::count(settings_.followers, ask->role) > 0)
        followedAt_ = history.trials.size();
      if (ask->role == kNumbersRole)
        std::erase(guessed_, ask->parents.front());
    }
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
    if (comingSoon(history) >= settings_.open ||
        std::ranges::any_of(history.waiting, [&](auto &each) { return leadsOn(each.hash); }))
      return {Wait()};
    if (settings_.patience > 0 && tally_.withoutGain >= double(settings_.patience))
      return history.isIdle() ? Decision{Stop{StopReason::Patience, double(settings_.patience)},
                                         {{"trials since gain", "", tally_.withoutGain}}}
                              : Decision{Wait()};
    if (!guessed_.empty() && !history.isGivenUp(kNumbersRole))
      return {Ask{.role = kNumbersRole,
                  .parents = {guessed_.front()},
                  .technique = kNumbersRole,
                  .limit = kFirstOfModel},
              {{"tunables of a model", guessed_.front(), 1}}};
    if (auto follower = askFollower(kBetweenFollows, history))
      return std::move(*follower);
    if (auto gated = askBehindGate(history))
      return std::move(*gated);
    if (auto best = askFor(settings_.policy, history))
      return std::move(*best);
    if (!history.isIdle())
      return {Wait()};
    if (auto follower = askFollower(1, history))
      return std::move(*follower);
    return {nothingLeft(settings_.proposers, history)};
  }

private:
  void learn(const Trial &trial, const SearchHistory &history) {
    const std::vector<std::string> &parents = trial.candidate.parents;
    Node node = parents.empty() ? Node() : nodeOf(parents.front());
    const double before = node.logSpeedup;
    std::optional<double> gain;
    if (isRight(trial)) {
      if (trial.speedup && trial.speedup->estimate > 0)
        node.logSpeedup = std::log(trial.speedup->estimate);
      gain = node.logSpeedup - before;
    }
    const bool hasGained = gain && *gain >= kLeastLogGain;
    if (trial.candidate.technique != kNumbersRole || hasGained || ++tally_.numbers > kFirstNumbers)
      beliefs_.add(trial.candidate.technique, gain,
                   !parents.empty() && isRecommended(trial.candidate.technique,
                                                     recommendedFor(parents.front(), history)));
    tally_.gained += hasGained;
    if (trial.candidate.proposer == kModelRole && !trial.candidate.tunables.empty() &&
        isRight(trial) && std::ranges::count(settings_.proposers, kNumbersRole) > 0)
      guessed_.push_back(trial.candidateHash);
    node.family.insert(trial.candidate.technique);
    tried_.insert(trial.candidate.technique);
    tally_.withoutGain += trial.candidate.technique == kNumbersRole ? kPatienceOfNumbers : 1;
    const Trial *next = improved_.empty() ? &history.best() : history.find(improved_);
    if (improves(trial, *next, settings_.minGain)) {
      improved_ = trial.candidateHash;
      tally_.withoutGain = 0;
    }
    if (mayBeParent(trial)) {
      best_ = std::max(best_, node.logSpeedup);
      order_.emplace_back(node.logSpeedup, trial.candidateHash);
    }
    nodes_.insert_or_assign(trial.candidateHash, std::move(node));
  }

  std::optional<Decision> askFor(const PolicySettings &policy, const SearchHistory &history) const {
    std::optional<Decision> best;
    double most = 0;
    for (const std::string &parent : frontier(policy, history)) {
      const std::vector<std::string> recommended = recommendedFor(parent, history);
      std::vector<Ask> asks = arms_.of(parent, history);
      std::ranges::stable_sort(asks, {}, [&](const Ask &ask) {
        return std::ranges::find(recommended, ask.technique) - recommended.begin();
      });
      for (Ask &ask : asks) {
        if (!isAllowed(ask, policy, history))
          continue;
        if (answersWithSeveral(ask))
          ask.limit = kMostCandidates;
        const bool isWanted = isRecommended(ask.technique, recommended);
        const auto [reached, failed] = beforeOf(ask);
        const Expectation expected =
            beliefs_.of(ask.technique, isWanted, policy.recommended, coming(ask, history));
        const double excess = expected.excess(best_ - nodeOf(parent).logSpeedup, policy.explore),
                     promise = std::max(arms_.left(ask) > failed ? excess : excess * (1 - kAgain),
                                        kAgain * (reached - best_));
        if (promise > most * kClearly) {
          most = promise;
          best = Decision{std::move(ask),
                          {{"expected log gain over the best", parent, promise},
                           {"chance to gain", "", expected.chance},
                           {"log gain if it does", "", expected.size},
                           {"trials of the technique", "", double(expected.trials)},
                           {"recommended by a rule", "", double(isWanted)},
                           {"log speedup that it led to before", "", reached}}};
        }
      }
    }
    return best;
  }

  /// What the first gate that holds leaves to ask for, with the gate as evidence.
  std::optional<Decision> askBehindGate(const SearchHistory &history) const {
    if (behindGates_.empty())
      return std::nullopt;
    const Counters signals = signalsOf(history);
    const PolicyGate *gate = firstOf(settings_.gates, signals);
    if (!gate)
      return std::nullopt;
    auto decision = askFor(behindGates_[std::size_t(gate - settings_.gates.data())], history);
    if (decision)
      decision->evidence.insert(
          decision->evidence.begin(),
          {fmt::format("gate {}: {}", gate->id,
                       CounterScope(signals).render(gate->when.finding).value_or("")),
           "", 1});
    return decision;
  }

  Counters signalsOf(const SearchHistory &history) const {
    const Trial &best = history.best();
    std::set<std::string> untried;
    for (const Ask &ask : arms_.of(history.trials.front().candidateHash, history))
      if (!tried_.contains(ask.technique))
        untried.insert(ask.technique);
    const auto stateOf = [&](const std::string &candidate) {
      const Trial *trial = diagnosed(candidate, history);
      return trial ? trial->diagnosis.state : "";
    };
    const auto &parents = best.candidate.parents;
    return {{"gained", double(tally_.gained)},
            {"stale", tally_.withoutGain},
            {"untried", double(untried.size())},
            {"left", double(arms_.of(best.candidateHash, history).size())},
            {"new_state", !parents.empty() && stateOf(best.candidateHash) != stateOf(parents[0])},
            {"log_speedup", nodeOf(best.candidateHash).logSpeedup},
            {"target", settings_.target > 1 ? std::log(settings_.target) : 0}};
  }

  bool isAllowed(const Ask &ask, const PolicySettings &policy, const SearchHistory &history) const {
    // Who does not say what it has left, such as a model, is asked for the best candidate alone,
    // once its last ones are judged.
    if (ask.technique.empty())
      return ask.parents.front() == history.best().candidateHash &&
             std::ranges::all_of(history.asked, [&](const Asked &asked) {
               return asked.ask.role != ask.role || asked.isDone();
             });
    return policy.only == Only::Any ||
           (policy.only == Only::Untried
                ? !tried_.contains(ask.technique)
                : nodeOf(ask.parents.front()).family.contains(ask.technique));
  }

  bool answersWithSeveral(const Ask &ask) const {
    return std::ranges::count(settings_.several, ask.role) > 0;
  }

  /// Candidates on their way, but for those of models, which take their time.
  std::size_t comingSoon(const SearchHistory &history) const {
    std::size_t coming = history.comingTrials();
    for (const Asked &asked : history.asked)
      coming -= !asked.isAnswered && answersWithSeveral(asked.ask) ? asked.ask.limit : 0;
    return coming;
  }

  /// The baseline, and the fastest; only one of each family where families count.
  std::vector<std::string> frontier(const PolicySettings &policy,
                                    const SearchHistory &history) const {
    std::vector<std::pair<double, std::string>> fastest = order_;
    std::ranges::stable_sort(fastest, std::greater(), &std::pair<double, std::string>::first);
    std::vector<std::string> parents;
    if (policy.baseline || fastest.empty())
      parents.push_back(history.trials.front().candidateHash);
    const std::size_t most = parents.size() + policy.width;
    std::set<std::set<std::string>> families;
    for (const auto &[logSpeedup, candidate] : fastest)
      if (parents.size() < most && logSpeedup >= best_ + std::log(kLeastOfBest) &&
          (families.insert(nodes_.at(candidate).family).second || !policy.families))
        parents.push_back(candidate);
    return parents;
  }

  /// If there are so many new trials.
  std::optional<Decision> askFollower(std::size_t trials, const SearchHistory &history) const {
    if (history.trials.size() < followedAt_ + trials)
      return std::nullopt;
    for (const std::string &role : settings_.followers)
      if (!history.isGivenUp(role))
        if (auto reasons = reasonsToFollow(history, settings_.weights, settings_.objective);
            !reasons.empty())
          return Decision{Ask{.role = role,
                              .parents = {history.best().candidateHash},
                              .technique = "",
                              .limit = kBetweenFollows},
                          std::move(reasons)};
    return std::nullopt;
  }

  /// Of what was tried before and may be offered: how far it led, and how many led nowhere.
  std::pair<double, std::size_t> beforeOf(const Ask &ask) const {
    std::pair<double, std::size_t> found;
    if (const auto known = before_.find({ask.parents.front(), ask.technique});
        known != before_.end())
      for (const auto &[candidate, tried] : known->second) {
        found.first = std::max(found.first, tried.pays > 0 ? tried.reach : 0);
        found.second += tried.pays <= 0;
      }
    return found;
  }

  /// What is offered lies no longer before the search; what should have been, and is not, is gone.
  void compareWithBefore(const Offered &offer, const Ask &ask) {
    bool isKnown = false;
    for (const Candidate &each : offer.candidates)
      isKnown |= before_[{ask.parents.front(), each.technique}].erase(each.contentHash()) > 0;
    if (!isKnown)
      std::erase_if(before_[{ask.parents.front(), ask.technique}],
                    [](const auto &each) { return each.second.pays > 0; });
  }

  /// Something better was made from it than there is by now.
  bool leadsOn(const std::string &candidate) const {
    const auto known = settings_.precedents.ofText.find(candidate);
    return known != settings_.precedents.ofText.end() &&
           known->second.reach > std::max(best_, known->second.gain);
  }

  const Node &nodeOf(const std::string &candidate) const {
    static const Node kBaseline;
    const auto known = nodes_.find(candidate);
    return known == nodes_.end() ? kBaseline : known->second;
  }

  static bool isRecommended(const std::string &technique,
                            const std::vector<std::string> &recommended) {
    return std::ranges::count(recommended, technique) > 0;
  }

  static std::vector<std::string> recommendedFor(const std::string &candidate,
                                                 const SearchHistory &history) {
    std::vector<std::string> techniques;
    if (const Trial *trial = diagnosed(candidate, history))
      for (const RuleHit &hit : trial->diagnosis.hits)
        techniques.insert(techniques.end(), hit.techniques.begin(), hit.techniques.end());
    return techniques;
  }

  /// Candidates of the technique that have no trial yet.
  static std::size_t coming(const Ask &ask, const SearchHistory &history) {
    return std::size_t(
        std::ranges::count(history.waiting, ask.technique,
                           [](const WaitingCandidate &each) { return each.candidate.technique; }));
  }

  PortfolioSettings settings_;
  std::vector<PolicySettings> behindGates_; ///< the policy's settings with those of each gate
  Arms arms_;
  Beliefs beliefs_;
  /// What was tried on the same text and not offered in this run, by parent and technique.
  std::map<std::pair<std::string, std::string>, std::map<std::string, Tried>> before_;
  std::unordered_map<std::string, Node> nodes_;       ///< of each judged candidate
  std::vector<std::pair<double, std::string>> order_; ///< those that may be parents
  std::set<std::string> tried_;                       ///< techniques
  double best_ = 0;                                   ///< log speedup of the fastest right trial
  Tally tally_;
  std::size_t followedAt_ = 0;       ///< trials when a follower was asked last
  std::vector<std::string> guessed_; ///< candidates whose values were not varied yet
  std::string improved_;             ///< the candidate to accept; empty: none
  std::string profiled_;             ///< the last candidate whose counters were read
};

} // namespace

std::unique_ptr<Strategy> makePortfolio(PortfolioSettings settings) {
  return std::make_unique<Portfolio>(std::move(settings));
}

} // namespace kopt
