// SPDX-License-Identifier: Apache-2.0
#include "driver/search/SearchHistory.h"

#include <algorithm>
#include <cassert>

namespace kopt {
namespace {

struct Fold {
  SearchHistory &history;
  const Trial *judged;

  void take(const Ask &ask) { history.asked.emplace_back().ask = ask; }
  void take(const Offered &offer) {
    Asked &asked = history.asked.at(std::size_t(offer.ask) - 1);
    asked.isAnswered = true;
    asked.offered = offer.candidates.size();
    for (const Candidate &candidate : offer.candidates)
      history.waiting.push_back({offer.ask, candidate.contentHash(), candidate});
    history.failures[offer.role] = 0;
  }
  void take(const ProposerFailure &failure) {
    history.asked.at(std::size_t(failure.ask) - 1).isAnswered = true;
    ++history.failures[failure.role];
    ++history.round; // it loses its turn
  }
  void take(const Judged &event) {
    assert(judged && "a Judged comes with its trial");
    const auto waiting = std::ranges::find_if(history.waiting, [&](const auto &one) {
      return one.ask == event.ask && one.hash == event.candidate;
    });
    assert(waiting != history.waiting.end() && "only what was offered is judged");
    history.waiting.erase(waiting);
    Asked &asked = history.asked.at(std::size_t(event.ask) - 1);
    asked.trials.push_back(history.trials.size());
    history.trials.push_back(*judged);
    history.round += asked.isDone();
  }
  void take(const Accept &accept) {
    const Trial *trial = history.find(accept.candidate);
    assert(trial && "only trials are accepted");
    history.incumbent = std::size_t(trial - history.trials.data());
  }
  void take(const Stop &) {
    history.failures.clear(); // a session that continues the run asks everybody again
  }
  void take(const auto &) {}
};

} // namespace

void SearchHistory::apply(const Event &event, const Trial *judged) {
  std::visit([&](const auto &what) { Fold{*this, judged}.take(what); }, event.what);
  events.push_back(event);
}

bool isRight(const Trial &trial) {
  return trial.verdict == Verdict::Faster || trial.verdict == Verdict::Same ||
         trial.verdict == Verdict::Slower || trial.verdict == Verdict::Ambiguous ||
         trial.verdict == Verdict::Duplicate;
}

std::size_t SearchHistory::comingTrials() const {
  std::size_t coming = waiting.size();
  for (const Asked &one : asked)
    coming += one.isAnswered ? 0 : one.ask.limit;
  return coming;
}

bool SearchHistory::isIdle() const { return std::ranges::all_of(asked, &Asked::isDone); }

bool SearchHistory::isGivenUp(const std::string &proposer) const {
  const auto known = failures.find(proposer);
  return known != failures.end() && known->second >= kMostFailures;
}

const Trial *SearchHistory::find(const std::string &candidateHash) const {
  const auto known = std::ranges::find(trials, candidateHash, &Trial::candidateHash);
  return known == trials.end() ? nullptr : &*known;
}

} // namespace kopt
