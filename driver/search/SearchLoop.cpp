// SPDX-License-Identifier: Apache-2.0
#include "driver/search/SearchLoop.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace kopt {

Result<SearchHistory> SearchLoop::run(const Baseline &baseline) {
  history_.trials = {baseline.trial};
  start_ = services_.clock.now();
  KOPT_CHECK(replay());
  while (true) {
    while (auto arrival = services_.inbox.take())
      KOPT_CHECK(take(std::move(*arrival)));
    Decision decision = decide();
    if (std::holds_alternative<Wait>(decision.what) && waitsForLater())
      decision = {Stop{StopReason::WaitsForReplies}};
    if (auto *ask = std::get_if<Ask>(&decision.what)) {
      KOPT_CHECK(act(std::move(*ask), std::move(decision.evidence)));
    } else if (const auto *profile = std::get_if<Profile>(&decision.what)) {
      KOPT_CHECK(act(*profile));
    } else if (const auto *accept = std::get_if<Accept>(&decision.what)) {
      KOPT_CHECK(append({.what = *accept, .evidence = std::move(decision.evidence)}));
    } else if (const auto *wait = std::get_if<Wait>(&decision.what)) {
      KOPT_CHECK(act(*wait));
    } else {
      Stop stop = std::get<Stop>(decision.what);
      KOPT_TRY(const bool goesOn, askLast(stop));
      if (goesOn)
        continue;
      if (!later_.empty())
        stop = {StopReason::WaitsForReplies};
      KOPT_CHECK(act(stop, std::move(decision.evidence)));
      if (stop.reason == StopReason::ProposersFailed && history_.trials.size() == 1)
        return tl::unexpected(*failure_);
      return std::move(history_);
    }
  }
}

Status SearchLoop::replay() {
  const std::vector<Event> events = services_.journal.events();
  for (const Event &event : events) {
    if (!isOfSearch(event))
      continue;
    if (const auto *judged = std::get_if<Judged>(&event.what)) {
      const auto waiting =
          std::ranges::find(history_.waiting, judged->candidate, &WaitingCandidate::hash);
      assert(waiting != history_.waiting.end() && "only what was offered is judged");
      KOPT_TRY(const Trial trial, services_.judge.judge(waiting->candidate, Purpose::Search));
      history_.apply(event, &trial);
      services_.observer.judged(trial);
    } else {
      if (const auto *offer = std::get_if<Offered>(&event.what))
        services_.judge.begin(offer->candidates);
      history_.apply(event);
    }
    services_.strategy.observe(event, history_);
  }
  for (std::size_t i = 0; i < history_.asked.size(); ++i)
    if (const Asked &asked = history_.asked[i]; !asked.isAnswered)
      proposerOf(asked.ask).start({problem_, history_, asked.ask}, services_.inbox);
  return {};
}

double SearchLoop::secondsWithNext() const {
  const bool isFirst = history_.waiting.empty() ||
                       history_.asked[std::size_t(history_.waiting.front().ask) - 1].trials.empty();
  const double next = (judged_ > 0 ? judging_ / double(judged_) : 0) + (isFirst ? waitOfFirst_ : 0);
  return settings_.secondsUsed + Duration(services_.clock.now() - start_).count() + next +
         secondsToConfirm(history_);
}

Decision SearchLoop::decide() {
  for (std::size_t i = 0; i < settings_.first.size(); ++i) {
    const Ask &ask = settings_.first[i];
    if (int(history_.asked.size()) + 1 != (ask.id > 0 ? ask.id : int(i) + 1))
      continue;
    if (history_.find(ask.parents.front()))
      return {ask};
    if (!history_.isIdle())
      return {Wait()};
  }
  Decision decision = services_.strategy.decide(history_);
  if (std::holds_alternative<Accept>(decision.what) ||
      std::holds_alternative<Profile>(decision.what))
    return decision; // it ends what was begun
  if (settings_.roof && history_.isIdle())
    return *settings_.roof;
  if (auto stop = budgetReached(settings_.budget, history_, secondsWithNext()))
    return std::move(*stop);
  if (settings_.roof || (std::holds_alternative<Ask>(decision.what) && roomForTrials() == 0))
    return {Wait()}; // what is coming is the last, or already uses the budget up
  return decision;
}

std::size_t SearchLoop::roomForTrials() const {
  if (settings_.budget.trials <= 0)
    return std::numeric_limits<std::size_t>::max();
  const auto most = std::size_t(settings_.budget.trials);
  return most - std::min(most, history_.trials.size() + history_.comingTrials());
}

Status SearchLoop::append(Event event, const Trial *judged) {
  event.round = history_.round;
  KOPT_CHECK(services_.journal.append(event));
  history_.apply(event, judged);
  services_.strategy.observe(event, history_);
  return {};
}

Status SearchLoop::act(Ask ask, std::vector<Evidence> evidence) {
  ask.id = int(history_.asked.size()) + 1;
  ask.limit = std::min(ask.limit, roomForTrials());
  KOPT_CHECK(append({.what = ask, .evidence = std::move(evidence)}));
  proposerOf(ask).start({problem_, history_, history_.asked.back().ask}, services_.inbox);
  return {};
}

Status SearchLoop::act(const Profile &profile) {
  const auto trial = std::ranges::find(history_.trials, profile.candidate, &Trial::candidateHash);
  assert(trial != history_.trials.end() && "only trials are profiled");
  if (settings_.readsCounters || trial->candidate.expects) {
    if (trial->counters.empty())
      services_.observer.profiling(*trial);
    KOPT_CHECK(services_.judge.addCounters(*trial));
  }
  return append({.what = Profiled{profile.candidate}});
}

Status SearchLoop::act(const Stop &stop, std::vector<Evidence> evidence) {
  // An earlier session may have stopped here, too.
  if (!history_.events.empty())
    if (const auto *last = std::get_if<Stop>(&history_.events.back().what);
        last && last->reason == stop.reason)
      return {};
  return append({.what = stop, .evidence = std::move(evidence)});
}

Result<bool> SearchLoop::askLast(const Stop &stop) {
  if (!settings_.last || stop.reason == StopReason::AtRoof || stop.reason == StopReason::Target)
    return false;
  const auto same = [&](const Asked &asked) { return asked.ask.role == settings_.last->role; };
  const auto earlier = std::find_if(history_.asked.rbegin(), history_.asked.rend(), same);
  if (earlier != history_.asked.rend() && (!earlier->isDone() || earlier->offered == 0))
    return false;
  Ask ask = *settings_.last;
  ask.parents = {history_.best().candidateHash};
  KOPT_CHECK(act(std::move(ask), {}));
  const Asked &last = history_.asked.back();
  while (!last.isAnswered && !later_.contains(last.ask.id))
    KOPT_CHECK(take(services_.inbox.wait()));
  return last.isAnswered;
}

bool SearchLoop::waitsForLater() const {
  return !later_.empty() && std::ranges::all_of(history_.asked, [&](const Asked &asked) {
    return asked.isDone() || later_.contains(asked.ask.id);
  });
}

Status SearchLoop::act(const Wait &) {
  if (!history_.waiting.empty())
    return judgeNext();
  if (history_.isIdle())
    return makeError(ErrorCode::Internal, "the strategy waits, but nothing is asked");
  return take(services_.inbox.wait());
}

Status SearchLoop::judgeNext() {
  if (services_.interrupted && services_.interrupted())
    return tl::unexpected(interruption());
  const WaitingCandidate next = history_.waiting.front();
  const bool isFirst = history_.asked[std::size_t(next.ask) - 1].trials.empty();
  services_.observer.judging(history_, next.candidate);
  const auto start = services_.clock.now();
  KOPT_TRY(const Trial trial, services_.judge.judge(next.candidate, Purpose::Search));
  // A trial from the store took no time. The first candidate of an answer waits for compilers,
  // which build the others meanwhile.
  if (const double took = Duration(services_.clock.now() - start).count(); took > 0.001) {
    const auto wait = trial.stages.find("wait");
    const double waited = isFirst && wait != trial.stages.end() ? std::min(took, wait->second) : 0;
    judging_ += took - waited;
    ++judged_;
    if (isFirst)
      waitOfFirst_ = waited;
  }
  KOPT_CHECK(append({.what = Judged{next.ask, trial.candidateHash}}, &trial));
  services_.observer.judged(trial);
  // Who expected something of counters is told what became of them.
  if (next.candidate.expects && isRight(trial) && trial.counters.empty())
    return act(Profile{trial.candidateHash});
  return {};
}

Status SearchLoop::take(Arrival arrival) {
  const Ask ask = history_.asked.at(std::size_t(arrival.ask) - 1).ask;
  if (auto *reply = std::get_if<Result<ChatReply>>(&arrival.what)) {
    if (*reply && (*reply)->isLater)
      later_.insert(ask.id);
    proposerOf(ask).heard({problem_, history_, ask}, std::move(*reply), services_.inbox);
    return {};
  }
  ProposerAnswer &answer = std::get<ProposerAnswer>(arrival.what);
  if (!answer.candidates)
    return fail(ask, answer.candidates.error());
  services_.judge.begin(*answer.candidates);
  return append({.what = Offered{ask.id, ask.role, std::move(*answer.candidates),
                                 std::move(answer.notes), "", std::move(answer.left)}});
}

Status SearchLoop::fail(const Ask &ask, const Error &error) {
  if (error.code == ErrorCode::Interrupted || error.code == ErrorCode::Internal)
    return tl::unexpected(error);
  failure_ = error;
  const auto known = history_.failures.find(ask.role);
  const int failures = known == history_.failures.end() ? 1 : known->second + 1;
  // The hint has what only the proposer knows, such as the output of a model's command.
  const ProposerFailure failure{ask.id, ask.role, inWords(error), failures >= kMostFailures};
  services_.observer.proposerFailed(failure);
  return append({.what = failure});
}

Proposer &SearchLoop::proposerOf(const Ask &ask) {
  const auto proposer = std::ranges::find_if(
      services_.proposers, [&](const auto &each) { return each->name() == ask.role; });
  assert(proposer != services_.proposers.end() && "strategies ask proposers that there are");
  return **proposer;
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

} // namespace kopt
