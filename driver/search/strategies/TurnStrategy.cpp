// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/search/proposers/TwoBodies.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kopt {
namespace {

class TurnStrategy final : public Strategy {
public:
  explicit TurnStrategy(TurnSettings settings) : settings_(std::move(settings)) {}

  void observe(const Event &event, const SearchHistory &history) override {
    if (const auto *offer = std::get_if<Offered>(&event.what)) {
      if (offer->candidates.empty())
        exhausted_.insert(askOf(offer->ask, history));
    } else if (const auto *failure = std::get_if<ProposerFailure>(&event.what)) {
      followed_ += isFollower(failure->role);
    } else if (const auto *judged = std::get_if<Judged>(&event.what)) {
      if (const Asked &asked = history.asked.at(std::size_t(judged->ask) - 1); asked.isDone())
        endRound(asked, history);
    } else if (const auto *profiled = std::get_if<Profiled>(&event.what)) {
      profiled_ = profiled->candidate;
    } else if (std::holds_alternative<Accept>(event.what)) {
      improved_.clear();
      withoutGain_ = 0;
    }
  }

  Decision decide(const SearchHistory &history) const override {
    if (!improved_.empty())
      return acceptance(*history.find(improved_), profiled_);
    if (!history.isIdle())
      return {Wait()};
    if (settings_.rounds > 0 && history.round >= settings_.rounds)
      return {Stop{StopReason::Rounds, double(settings_.rounds)},
              {{"rounds", "", double(history.round)}}};
    if (settings_.patience > 0 && withoutGain_ >= settings_.patience)
      return {Stop{StopReason::Patience, double(settings_.patience)},
              {{"rounds since gain", "", double(withoutGain_)}}};
    if (auto follower = askFollower(history))
      return std::move(*follower);
    return askNext(history);
  }

private:
  using Exhausted = std::pair<std::string, std::vector<std::string>>; ///< proposer and parents

  static Exhausted askOf(int id, const SearchHistory &history) {
    const Ask &ask = history.asked.at(std::size_t(id) - 1).ask;
    return {ask.role, ask.parents};
  }
  bool isFollower(const std::string &role) const { // or what was asked for first
    return std::ranges::count(settings_.proposers, role) == 0;
  }
  bool isSkipped(const std::string &role, const SearchHistory &history) const {
    return history.isGivenUp(role) || exhausted_.contains({role, {history.best().candidateHash}});
  }

  void endRound(const Asked &asked, const SearchHistory &history) {
    const bool isOfFollower = isFollower(asked.ask.role);
    if (isOfFollower) {
      // Its own trials are no reason to ask it again; an accepted one is another parent.
      ++followed_;
      exhausted_.insert({asked.ask.role, asked.ask.parents});
    } else {
      std::erase_if(exhausted_, [&](const Exhausted &entry) { return isFollower(entry.first); });
    }
    std::size_t best = history.incumbent;
    for (const std::size_t index : asked.trials)
      if (improves(history.trials[index], history.trials[best], settings_.minGain))
        best = index;
    if (best != history.incumbent)
      improved_ = history.trials[best].candidateHash;
    else
      withoutGain_ += !isOfFollower; // a follower costs the others none of their patience
  }

  std::optional<Decision> askFollower(const SearchHistory &history) const {
    for (const std::string &role : settings_.followers) {
      if (isSkipped(role, history))
        continue;
      std::vector<Evidence> reasons =
          reasonsToFollow(history, settings_.weights, settings_.objective);
      if (reasons.empty())
        break;
      Decision decision = ask(role, history);
      decision.evidence = std::move(reasons);
      return decision;
    }
    return std::nullopt;
  }

  Decision askNext(const SearchHistory &history) const {
    const std::vector<std::string> &proposers = settings_.proposers;
    const std::size_t turn = std::size_t(history.round - followed_);
    for (std::size_t i = 0; i < proposers.size(); ++i) {
      const std::string &role = proposers[(turn + i) % proposers.size()];
      if (isSkipped(role, history))
        continue;
      Decision decision = ask(role, history);
      decision.evidence = {{"round", "", double(history.round)}};
      if (const Trial &best = history.best(); best.speedup)
        decision.evidence.push_back({"speedup", best.candidateHash, best.speedup->estimate});
      return decision;
    }
    return {nothingLeft(proposers, history), {{"proposers left", "", 0}}};
  }

  Decision ask(const std::string &role, const SearchHistory &history) const {
    return {Ask{.role = role,
                .parents = {history.best().candidateHash},
                .technique = "",
                .limit = settings_.batch}};
  }

  TurnSettings settings_;
  std::set<Exhausted> exhausted_; ///< who has nothing left to offer for what
  int followed_ = 0;              ///< finished rounds of followers
  int withoutGain_ = 0;           ///< finished rounds in a row without a better incumbent
  std::string improved_;          ///< the candidate to accept; empty: none
  std::string profiled_;          ///< the last candidate whose counters were read
};

} // namespace

bool improves(const Trial &candidate, const Trial &incumbent, double minGain) {
  if (candidate.verdict != Verdict::Faster || !candidate.speedup)
    return false;
  const double best =
      incumbent.speedup && incumbent.verdict == Verdict::Faster ? incumbent.speedup->estimate : 1.0;
  return candidate.speedup->low > best * (1 + minGain);
}

Decision acceptance(const Trial &trial, const std::string &profiled) {
  if (profiled != trial.candidateHash)
    return {Profile{trial.candidateHash}};
  return {Accept{trial.candidateHash, trial.candidate.title, trial.speedup->estimate,
                 trial.speedup->low},
          {{"speedup low", trial.candidateHash, trial.speedup->low}}};
}

Stop nothingLeft(const std::vector<std::string> &proposers, const SearchHistory &history) {
  const bool haveFailed =
      !proposers.empty() &&
      std::ranges::all_of(proposers, [&](const auto &role) { return history.isGivenUp(role); });
  return {haveFailed ? StopReason::ProposersFailed : StopReason::Exhausted};
}

std::vector<Evidence> reasonsToFollow(const SearchHistory &history,
                                      const std::vector<double> &weights, Objective objective) {
  std::vector<Evidence> reasons;
  if (const std::vector<Repairable> open = repairables(history.trials); !open.empty())
    reasons.push_back({"wrong on launches beyond the workload", open.front().trial->candidateHash,
                       double(open.front().wrong.size())});
  if (const auto pairs = classPairs(history.trials, history.best(), weights, objective);
      !pairs.empty())
    reasons.push_back(
        {"estimate by launch class", pairs.front().special->candidateHash, pairs.front().estimate});
  return reasons;
}

std::unique_ptr<Strategy> makeTurnStrategy(TurnSettings settings) {
  return std::make_unique<TurnStrategy>(std::move(settings));
}

} // namespace kopt
