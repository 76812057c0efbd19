// SPDX-License-Identifier: Apache-2.0
#include "driver/search/SearchLoop.h"

#include "driver/search/proposers/LaunchClasses.h"

#include <algorithm>
#include <cassert>

namespace kopt {

bool improves(const Trial &candidate, const Trial &incumbent, double minGain) {
  if (candidate.verdict != Verdict::Faster || !candidate.speedup)
    return false;
  const double best =
      incumbent.speedup && incumbent.verdict == Verdict::Faster ? incumbent.speedup->estimate : 1.0;
  return candidate.speedup->low > best * (1 + minGain);
}

Result<SearchHistory> SearchLoop::run(const Baseline &baseline) {
  history_.trials = {baseline.trial};
  for (const auto &proposer : services_.proposers)
    (proposer->followsTrials() ? history_.followers : history_.proposers)
        .push_back(proposer->name());
  history_.weights = weightsOf(problem_.workload);
  start_ = services_.clock.now();
  while (true) {
    const Decision decision = decide();
    KOPT_CHECK(record(decision));
    if (const auto *ask = std::get_if<Ask>(&decision.what)) {
      KOPT_CHECK(playRound(*ask));
      continue;
    }
    const auto *stop = std::get_if<Stop>(&decision.what);
    assert(stop && "a strategy asks or stops");
    if (stop->reason == StopReason::ProposersFailed && history_.trials.size() == 1)
      return tl::unexpected(*failure_);
    return std::move(history_);
  }
}

double SearchLoop::secondsWithNext(bool opensRound) const {
  const double next =
      (judged_ > 0 ? judging_ / double(judged_) : 0) + (opensRound ? waitOfRound_ : 0);
  return settings_.secondsUsed + Duration(services_.clock.now() - start_).count() + next +
         secondsToConfirm(history_);
}

bool SearchLoop::isTimeUp(bool opensRound) const {
  return settings_.budget.seconds > 0 && secondsWithNext(opensRound) >= settings_.budget.seconds;
}

Decision SearchLoop::decide() {
  if (auto stop = budgetReached(settings_.budget, history_, secondsWithNext(true)))
    return *stop;
  Decision decision = services_.strategy.decide(history_);
  if (auto *ask = std::get_if<Ask>(&decision.what); ask && settings_.budget.trials > 0)
    ask->limit =
        std::min(ask->limit, std::size_t(settings_.budget.trials) - history_.trials.size());
  return decision;
}

Status SearchLoop::record(Decision decision) {
  KOPT_CHECK(services_.decisions.record(decision));
  history_.decisions.push_back(std::move(decision));
  return {};
}

Status SearchLoop::playRound(const Ask &ask) {
  KOPT_TRY(const std::vector<Candidate> candidates, candidatesFor(ask));
  const bool isFollower = std::ranges::count(history_.followers, ask.role) > 0;
  if (history_.failures[ask.role] > 0) {
    ++history_.round; // the failed proposer loses its turn
    history_.followed += isFollower;
    return {};
  }
  if (candidates.empty()) {
    history_.exhausted.insert({ask.role, ask.parents});
    return {};
  }
  const std::size_t first = history_.trials.size();
  KOPT_CHECK(judgeAll(candidates));
  // Time is up within the round: a resumed run with more time judges the rest of it first.
  if (history_.trials.size() - first < candidates.size())
    return {};
  std::size_t best = history_.incumbent;
  for (std::size_t i = first; i < history_.trials.size(); ++i)
    if (improves(history_.trials[i], history_.trials[best], settings_.minGain))
      best = i;
  ++history_.round;
  if (isFollower) {
    // Its own trials are no reason to ask it again; an accepted one is another parent.
    ++history_.followed;
    history_.exhausted.insert({ask.role, ask.parents});
  } else {
    std::erase_if(history_.exhausted, [&](const auto &entry) {
      return std::ranges::count(history_.followers, entry.first) > 0;
    });
  }
  if (best == history_.incumbent) {
    history_.roundsSinceGain += !isFollower; // it costs the others none of their patience
    return {};
  }
  return accept(best);
}

Result<std::vector<Candidate>> SearchLoop::candidatesFor(const Ask &ask) {
  const auto proposer = std::ranges::find_if(
      services_.proposers, [&](const auto &each) { return each->name() == ask.role; });
  assert(proposer != services_.proposers.end() && "strategies ask proposers that there are");
  ProposalContext context{problem_, {}, history_.trials, history_.round, ask.technique};
  for (const std::string &hash : ask.parents) {
    const Trial *parent = history_.find(hash);
    assert(parent && "parents are trials of the history");
    context.parents.push_back({*parent, services_.diagnose(parent->counters)});
  }
  Decision answer;
  answer.round = history_.round;
  Result<std::vector<Candidate>> candidates = (*proposer)->propose(context, ask.limit);
  if (!candidates) {
    if (candidates.error().code == ErrorCode::Interrupted ||
        candidates.error().code == ErrorCode::Internal)
      return candidates;
    failure_ = candidates.error();
    const bool givenUp = ++history_.failures[ask.role] >= kMostFailures;
    if (givenUp)
      history_.failed.insert(ask.role);
    // The hint has what only the proposer knows, such as the output of a model's command.
    const std::string words =
        failure_->hint.empty() ? failure_->what : failure_->what + "; " + failure_->hint;
    const ProposerFailure failure{ask.role, words, givenUp};
    services_.observer.proposerFailed(failure);
    answer.what = failure;
    KOPT_CHECK(record(std::move(answer)));
    return std::vector<Candidate>();
  }
  history_.failures[ask.role] = 0;
  if (!ask.technique.empty())
    std::erase_if(*candidates,
                  [&](const Candidate &candidate) { return candidate.technique != ask.technique; });
  // The name of a candidate says what it keeps of its parent, too: its line may be read alone.
  const std::string &kept = context.parent().title, &parent = context.parentTrial().candidateHash;
  if (parent != history_.trials.front().candidateHash && !(*proposer)->followsTrials())
    for (Candidate &candidate : *candidates)
      if (!candidate.title.starts_with(kept) && std::ranges::count(candidate.parents, parent) > 0)
        candidate.title = kept + " + " + candidate.title;
  answer.what = Offered{ask.role, candidates->size()};
  KOPT_CHECK(record(std::move(answer)));
  return candidates;
}

Status SearchLoop::judgeAll(const std::vector<Candidate> &candidates) {
  services_.judge.begin(candidates);
  for (const Candidate &candidate : candidates) {
    if (services_.interrupted && services_.interrupted())
      return tl::unexpected(interruption());
    const bool opensRound = &candidate == &candidates.front();
    if (isTimeUp(opensRound))
      return {};
    services_.observer.judging(history_, candidate);
    const auto start = services_.clock.now();
    KOPT_TRY(const Trial trial, services_.judge.judge(candidate, Purpose::Search));
    // A trial from the store took no time. The first candidate of a round waits for compilers,
    // which build the others meanwhile.
    if (const double took = Duration(services_.clock.now() - start).count(); took > 0.001) {
      const auto wait = trial.stages.find("wait");
      const double waited =
          opensRound && wait != trial.stages.end() ? std::min(took, wait->second) : 0;
      judging_ += took - waited;
      ++judged_;
      if (opensRound)
        waitOfRound_ = waited;
    }
    history_.trials.push_back(trial);
    services_.observer.judged(trial);
  }
  return {};
}

Error SearchLoop::interruption() const {
  const Trial &best = *std::ranges::max_element(history_.trials, {}, [](const Trial &trial) {
    return trial.verdict == Verdict::Faster && trial.speedup ? trial.speedup->estimate : 0;
  });
  return {ErrorCode::Interrupted,
          best.verdict == Verdict::Faster
              ? fmt::format("interrupted; what was judged is saved, the best with {:.3f}x: {}",
                            best.speedup->estimate, best.candidate.title)
              : "interrupted; everything judged so far is saved",
          "",
          "continue with the same command and --resume; with --budget-seconds 15 as well, kopt "
          "confirms the best and ends",
          {}};
}

Status SearchLoop::accept(std::size_t index) {
  // Rules and prompts of the next round read only the incumbent's counters.
  Trial &trial = history_.trials[index];
  if (trial.counters.empty()) {
    services_.observer.profiling(trial);
    KOPT_CHECK(services_.judge.addCounters(trial));
  }
  history_.incumbent = index;
  history_.roundsSinceGain = 0;
  Decision decision;
  decision.round = history_.round;
  decision.what = Accept{trial.candidateHash, trial.candidate.title, trial.speedup->estimate};
  decision.evidence = {{"speedup low", trial.candidateHash, trial.speedup->low}};
  return record(std::move(decision));
}

} // namespace kopt
