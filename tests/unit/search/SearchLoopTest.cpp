// SPDX-License-Identifier: Apache-2.0
// The whole loop over a recorded or a fake judge, a store in memory and a fake clock.
#include "driver/search/SearchLoop.h"
#include "driver/judge/RecallingJudge.h"
#include "driver/model/Json.h"
#include "driver/search/Confirmation.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "fakes/FakeInbox.h"
#include "fakes/FakeJudge.h"
#include "fakes/MemoryStore.h"
#include "fakes/RecordedJudge.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Offers a list of titles, a few at a time; "fail" in the list is an error.
class ListProposer final : public Proposer {
public:
  ListProposer(std::string name, const std::vector<std::string> &titles) : name_(std::move(name)) {
    for (const std::string &title : titles) {
      Candidate candidate;
      candidate.proposer = name_;
      candidate.title = title;
      candidate.constants[name_ + title] = 1; // what it is told apart by
      candidates_.emplace_back(candidate, candidate.contentHash());
    }
  }
  std::string name() const override { return name_; }
  void start(const ProposalContext &context, Inbox &inbox) override {
    parents.push_back(context.parent().title);
    const Diagnosis &diagnosis = context.parentTrial().diagnosis;
    metrics.push_back(diagnosis.skipped.empty() ? "" : diagnosis.skipped[0]);
    Arrival arrival{context.ask.id, ProposerAnswer{answer(context)}};
    if (seconds > 0)
      static_cast<fakes::FakeInbox &>(inbox).putIn(seconds, std::move(arrival));
    else
      inbox.put(std::move(arrival));
  }
  std::vector<std::string> parents, metrics;
  int late = 0;       ///< turns on which it fails first
  double seconds = 0; ///< until it answers

private:
  Result<std::vector<Candidate>> answer(const ProposalContext &context) {
    if (late-- > 0)
      return makeError(ErrorCode::Environment, "the model did not answer in time");
    std::vector<Candidate> candidates;
    for (const auto &[candidate, hash] : candidates_) {
      if (candidate.title == "fail" && candidates.empty()) // nothing else is left
        return makeError(ErrorCode::Environment, "the model cannot be reached", "check the key");
      if (!context.history.find(hash) && candidates.size() < context.ask.limit)
        candidates.push_back(candidate);
    }
    return candidates;
  }

  std::string name_;
  std::vector<std::pair<Candidate, std::string>> candidates_; ///< with their hashes
};

/// Answers in a later session, when its replies are there: one list of titles an ask.
class LaterProposer final : public Proposer {
public:
  std::string name() const override { return "later"; }
  void start(const ProposalContext &context, Inbox &inbox) override {
    parents.push_back(context.parent().title);
    if (!replies.contains(context.ask.id)) {
      ChatReply none;
      none.isLater = true;
      return inbox.put({context.ask.id, Result<ChatReply>(none)});
    }
    std::vector<Candidate> candidates;
    for (const std::string &title : replies[context.ask.id]) {
      candidates.emplace_back().title = title;
      candidates.back().constants[title] = 1;
    }
    inbox.put({context.ask.id, ProposerAnswer{candidates}});
  }
  std::map<int, std::vector<std::string>> replies; ///< by the id of the ask
  std::vector<std::string> parents;
};

/// Asks all proposers at once, each again as soon as its answer is judged, and accepts nothing.
class AllAtOnce final : public Strategy {
public:
  explicit AllAtOnce(std::vector<std::string> proposers) : proposers_(std::move(proposers)) {}
  Decision decide(const SearchHistory &history) const override {
    mostOpen = std::max(mostOpen,
                        std::size_t(std::ranges::count(history.asked, false, &Asked::isAnswered)));
    for (const std::string &proposer : proposers_) {
      const auto last = std::find_if(history.asked.rbegin(), history.asked.rend(),
                                     [&](const Asked &one) { return one.ask.role == proposer; });
      if (last == history.asked.rend() || (last->isDone() && last->offered > 0))
        return {Ask{0, proposer, {history.trials[0].candidateHash}, "", 2}};
    }
    return history.isIdle() ? Decision{Stop{StopReason::Exhausted}} : Decision{Wait()};
  }
  mutable std::size_t mostOpen = 0; ///< asks without an answer at once

private:
  std::vector<std::string> proposers_;
};

class SearchLoopTest : public testing::Test {
protected:
  void offer(const std::string &name, std::vector<std::string> titles) {
    proposers_.push_back(std::make_unique<ListProposer>(name, std::move(titles)));
  }
  ListProposer &proposer(std::size_t index) {
    return static_cast<ListProposer &>(*proposers_[index]);
  }

  Result<SearchHistory> search(Judge &inner, Strategy &strategy) {
    KOPT_TRY(RecallingJudge judge,
             RecallingJudge::open(inner, store_, 1, [](Trial &trial, const Workload &) {
               trial.diagnosis.skipped.clear();
               for (const auto &[name, value] : trial.counters)
                 trial.diagnosis.skipped.push_back(name);
             }));
    KOPT_TRY(Journal journal, Journal::open(store_, 1));
    KOPT_TRY(const Baseline baseline, judge.baseline());
    fakes::FakeInbox inbox(clock_);
    const SearchServices services{
        judge, strategy, proposers_, journal,
        inbox, clock_,   observer_,  [this] { return judgements_-- <= 0; }};
    const SearchProblem problem{kernel_, specialization_, workload_, slice_, device_};
    auto history = SearchLoop(services, problem, settings_).run(baseline);
    waited_ = inbox.waited;
    return history;
  }
  Result<SearchHistory> search(Judge &inner) {
    TurnSettings turns = turns_;
    turns.weights = weightsOf(workload_);
    for (const auto &proposer : proposers_)
      if (std::ranges::count(turns.followers, proposer->name()) == 0)
        turns.proposers.push_back(proposer->name());
    return search(inner, *makeTurnStrategy(turns));
  }
  Result<SearchHistory> search() { return search(judge_); }

  std::vector<std::string> recorded() {
    std::vector<std::string> lines;
    const auto events = store_.events(1);
    for (const Event &event : *events)
      lines.push_back(std::string(kindOf(event)) + ": " + describe(event));
    return lines;
  }
  std::vector<std::string> trials() {
    std::vector<std::string> titles;
    const auto trials = store_.trials(1);
    for (const Trial &trial : *trials)
      titles.push_back(trial.candidate.title);
    return titles;
  }

  fakes::FakeClock clock_;
  fakes::FakeJudge judge_{clock_};
  fakes::MemoryStore store_;
  SearchObserver observer_;
  SearchSettings settings_;
  TurnSettings turns_{.batch = 2};
  std::vector<std::unique_ptr<Proposer>> proposers_;
  double waited_ = 0;     ///< seconds for answers, with nothing to judge
  int judgements_ = 1000; ///< until the user interrupts
  KernelSpec kernel_;
  Specialization specialization_;
  Workload workload_;
  std::string slice_;
  DeviceInfo device_;
};

TEST_F(SearchLoopTest, ProposersTakeTurnsUntilNoneHasAnythingLeft) {
  offer("a", {"a1", "a2", "a3"});
  offer("b", {"b1"});
  const auto history = must(search());
  EXPECT_THAT(judge_.judged, ElementsAre("a1", "a2", "b1", "a3"));
  EXPECT_EQ(std::get<Stop>(history.events.back().what).reason, StopReason::Exhausted);
  EXPECT_EQ(history.round, 3);
  EXPECT_EQ(history.incumbent, 0u);
}

TEST_F(SearchLoopTest, WhatFollowsTrialsIsAskedWhenOneIsFasterOnSomeLaunchesOnly) {
  offer("a", {"a1", "a2", "split", "a4", "a5"});
  offer("b", {"b1", "b2", "b3"});
  offer("f", {"f1", "f2", "f3", "f4", "f5", "f6"});
  turns_.followers = {"f"};
  turns_.patience = 6;
  workload_.launches.resize(2);
  const auto history = must(search());
  // It takes no turn, so those of the others stay as they are, and its own trials are no reason to
  // ask it again.
  EXPECT_THAT(judge_.judged, ElementsAre("a1", "a2", "b1", "b2", "split", "a4", "f1", "f2", "b3",
                                         "f3", "f4", "a5", "f5", "f6"));
  EXPECT_EQ(history.round, 8);
  EXPECT_EQ(std::get<Stop>(history.events.back().what).reason, StopReason::Exhausted)
      << "only five rounds of those that take turns cost patience";
}

TEST_F(SearchLoopTest, WithoutSuchATrialNothingFollows) {
  offer("a", {"a1", "1.5x"});
  offer("f", {"f1"});
  turns_.followers = {"f"};
  ASSERT_TRUE(search());
  EXPECT_THAT(judge_.judged, ElementsAre("a1", "1.5x"));
  for (const std::string &line : recorded())
    EXPECT_EQ(line.find("'f'"), line.npos) << line;
}

TEST_F(SearchLoopTest, TheBestOfARoundBecomesTheParentOfTheNextAndGetsCounters) {
  offer("a", {"1.10x", "1.30x", "1.20x", "1.31x"});
  const auto history = must(search());
  EXPECT_EQ(history.best().candidate.title, "1.30x") << "1.31 is not surely better than 1.30";
  EXPECT_THAT(proposer(0).parents, ElementsAre("baseline", "1.30x", "1.30x"));
  EXPECT_THAT(proposer(0).metrics, ElementsAre("base", "counted", "counted"));
  EXPECT_EQ(judge_.counted, 1);
}

TEST_F(SearchLoopTest, CountersThatNobodyReadsAreNotTaken) {
  offer("a", {"1.20x", "1.30x"});
  settings_.readsCounters = false;
  const auto history = must(search());
  EXPECT_EQ(history.best().candidate.title, "1.30x");
  EXPECT_EQ(judge_.counted, 0);
}

TEST_F(SearchLoopTest, WhatFailsOrGainsNothingIsNeverAccepted) {
  offer("a", {"wrong 2.0x", "same", "1.005x"});
  const auto history = must(search());
  EXPECT_EQ(history.incumbent, 0u);
  EXPECT_EQ(judge_.counted, 0);
}

TEST_F(SearchLoopTest, PatienceCountsRoundsSinceTheLastGain) {
  offer("a", {"1.1x", "x1", "x2", "x3", "1.5x", "x5", "x6", "x7", "x8", "x9"});
  turns_.patience = 2;
  const auto history = must(search());
  const Stop stop = std::get<Stop>(history.events.back().what);
  EXPECT_EQ(stop.reason, StopReason::Patience);
  EXPECT_EQ(stop.limit, 2);
  EXPECT_EQ(history.best().candidate.title, "1.5x");
  EXPECT_EQ(history.round, 5);
}

TEST_F(SearchLoopTest, NothingIsAskedOfAKernelAtItsRoofUntilTheUserSaysSo) {
  offer("a", {"a1", "a2"});
  settings_.roof = Decision{Stop{StopReason::AtRoof, 1.03}, {{"percent_reached", "baseline", 97}}};
  const auto history = must(search());
  EXPECT_THAT(judge_.judged, ElementsAre());
  ASSERT_EQ(history.events.size(), 1u);
  EXPECT_EQ(std::get<Stop>(history.events[0].what).reason, StopReason::AtRoof);
  EXPECT_EQ(history.events[0].evidence.at(0).value, 97);
  ASSERT_TRUE(search()) << "resumed";
  EXPECT_EQ(recorded().size(), 1u);
  settings_.roof = std::nullopt;
  EXPECT_EQ(std::get<Stop>(must(search()).events.back().what).reason, StopReason::Exhausted);
  EXPECT_THAT(judge_.judged, ElementsAre("a1", "a2"));
}

TEST_F(SearchLoopTest, WhatIsAskedForFirstTakesNoTurnAndMayBeTheParentOfTheRest) {
  offer("given", {"wrong", "1.5x"});
  offer("a", {"a1"});
  offer("b", {"b1"});
  turns_.followers = {"given"};
  turns_.patience = 1;
  settings_.first = {Ask{0, "given", {fakes::FakeJudge::baselineTrial().candidateHash}, "", 2}};
  const auto history = must(search());
  EXPECT_THAT(judge_.judged, ElementsAre("wrong", "1.5x", "a1"));
  EXPECT_EQ(history.best().candidate.title, "1.5x");
  EXPECT_THAT(proposer(1).parents, ElementsAre("1.5x"));
  ASSERT_TRUE(search()) << "resumed";
  EXPECT_THAT(proposer(0).parents, ElementsAre("baseline")) << "it is asked once";
}

TEST_F(SearchLoopTest, WhatIsAskedForFirstIsJudgedAtTheRoofToo) {
  offer("given", {"1.5x", "1.1x"});
  offer("a", {"a1"});
  settings_.first = {Ask{0, "given", {fakes::FakeJudge::baselineTrial().candidateHash}, "", 2}};
  settings_.roof = Decision{Stop{StopReason::AtRoof, 1.03}};
  const auto history = must(search());
  EXPECT_THAT(judge_.judged, ElementsAre("1.5x", "1.1x"));
  EXPECT_EQ(history.best().candidate.title, "1.5x");
  EXPECT_EQ(std::get<Stop>(history.events.back().what).reason, StopReason::AtRoof);
  AllAtOnce strategy({"a"});
  settings_.roof = std::nullopt;
  EXPECT_THAT(must(search(judge_, strategy)).trials.back().candidate.title, "a1");
}

TEST_F(SearchLoopTest, NoBudgetIsExceeded) {
  offer("a", {"1", "2", "3", "4", "5", "6", "7", "8", "9"});
  settings_.budget.trials = 4; // the baseline is one of them
  EXPECT_EQ(std::get<Stop>(search()->events.back().what).reason, StopReason::Trials);
  EXPECT_THAT(judge_.judged, ElementsAre("1", "2", "3"));
}

TEST_F(SearchLoopTest, NothingIsAskedThatHasNoRoomInTheBudget) {
  for (const char *name : {"a", "b", "c", "d"})
    offer(name, {"1", "2", "3"});
  settings_.budget.trials = 4; // the baseline is one of them
  AllAtOnce strategy({"a", "b", "c", "d"});
  const auto history = must(search(judge_, strategy));
  EXPECT_EQ(history.trials.size(), 4U);
  ASSERT_EQ(history.asked.size(), 2U) << "two candidates, and then one";
  EXPECT_EQ(history.asked[1].ask.limit, 1U);
}

TEST_F(SearchLoopTest, NoCandidateIsBegunThatTheTimeBudgetDoesNotLast) {
  offer("a", {"1", "2", "3", "4", "5", "6", "7", "8", "9"});
  settings_.budget.seconds = 8; // each judgement takes one, and a confirmation three
  settings_.secondsUsed = 1;
  const auto history = search();
  const Stop stop = std::get<Stop>(history->events.back().what);
  EXPECT_EQ(stop.reason, StopReason::Seconds);
  EXPECT_EQ(judge_.judged.size(), 3u) << "in the middle of a round";
  EXPECT_EQ(history->events.back().evidence.front().value, 8)
      << "with the next one and a confirmation";
}

TEST_F(SearchLoopTest, WhatTheFirstWaitedToBeBuiltIsNotExpectedOfTheOthers) {
  offer("a", {"1", "2", "3", "4", "5", "6"});
  turns_.batch = 6;                    // all of them in one round
  judge_.building = judge_.waited = 9; // while the others are built
  settings_.budget.seconds = 17;
  ASSERT_TRUE(search());
  EXPECT_EQ(judge_.judged.size(), 4u)
      << "a wait of 9 s, four judgements of one each, and three for a confirmation";
}

TEST_F(SearchLoopTest, TheTimeForTheConfirmationIsLeft) {
  offer("a", {"1", "2", "1.5x", "4", "5", "6", "7", "8", "9"});
  judge_.seconds = 1; // of a trial: its confirmation is expected to take a few
  settings_.budget.seconds = 8;
  const auto history = search();
  EXPECT_EQ(std::get<Stop>(history->events.back().what).reason, StopReason::Seconds);
  EXPECT_EQ(judge_.judged.size(), std::size_t(8 - secondsToConfirm(*history) - 1));
  EXPECT_GT(secondsToConfirm(*history), 0);
}

TEST_F(SearchLoopTest, ARoundThatTheTimeCutShortGoesOnWithMoreTime) {
  offer("a", {"1.1x", "a2", "1.4x", "a4", "a5", "a6"});
  turns_.batch = 3;
  const auto whole = must(search());
  const std::vector<std::string> expected = trials();
  store_ = {};
  settings_.budget.seconds = 3;
  ASSERT_TRUE(search());
  EXPECT_LT(trials().size(), expected.size());
  settings_.budget.seconds = 0;
  const auto resumed = must(search());
  EXPECT_EQ(trials(), expected);
  EXPECT_EQ(resumed.best().candidate.title, whole.best().candidate.title);
}

TEST_F(SearchLoopTest, ARunThatIsInterruptedGoesOnWhereItWasAndRepeatsNothing) {
  offer("a", {"1.1x", "a2", "1.4x", "a4", "a5", "a6"});
  offer("b", {"b1", "b2"});
  const auto whole = search();
  ASSERT_TRUE(whole);
  const std::vector<std::string> expectedTrials = trials(), expectedDecisions = recorded();
  const std::size_t total = judge_.judged.size();

  for (int after = 0; after < int(total); ++after) {
    store_ = {};
    judge_.judged.clear();
    judgements_ = after;
    const auto stopped = search();
    ASSERT_THAT(stopped, fails({.code = ErrorCode::Interrupted}));
    if (after + 1 == int(total))
      EXPECT_THAT(stopped.error().what, HasSubstr("the best with 1.400x: 1.4x"));
    EXPECT_EQ(judge_.judged.size(), std::size_t(after));
    judgements_ = 1000;
    const auto resumed = must(search());
    EXPECT_EQ(judge_.judged.size(), total) << "nothing is judged twice";
    EXPECT_EQ(trials(), expectedTrials);
    EXPECT_EQ(recorded(), expectedDecisions) << "interrupted after " << after;
    EXPECT_EQ(resumed.best().candidate.title, "1.4x");
  }
}

/// The store as a run leaves it that is killed after so many events; with `isLate`, the trial of
/// the next one is there already.
fakes::MemoryStore killedAfter(std::size_t count, fakes::MemoryStore whole, bool isLate) {
  fakes::MemoryStore store;
  const auto events = whole.events(1).value();
  std::set<std::string> judged = {Candidate().contentHash()};
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i < count)
      EXPECT_TRUE(store.recordEvent(1, events[i]));
    if (const auto *trial = std::get_if<Judged>(&events[i].what); trial && i < count + isLate)
      judged.insert(trial->candidate);
  }
  const std::vector<Trial> trials = whole.trials(1).value();
  for (const Trial &trial : trials)
    if (judged.contains(trial.candidateHash))
      EXPECT_TRUE(store.recordTrial(1, trial));
  return store;
}

TEST_F(SearchLoopTest, AKillAtEveryEventLeadsToTheSameJournal) {
  std::vector<std::string> titles;
  for (int i = 0; i < 32; ++i)
    titles.push_back(fmt::format("{:.2f}x {}", i % 7 == 3 ? 1 + 0.1 * i : 0.9, i));
  offer("a", titles);
  offer("b", titles);
  offer("llm", {"late", "1.05x", "wrong"});
  proposer(2).late = 1;
  turns_.batch = 1;
  ASSERT_TRUE(search());
  const fakes::MemoryStore whole = store_;
  const std::vector<Event> expected = store_.events(1).value();
  EXPECT_GE(expected.size(), 200u);
  const auto failed = std::ranges::find_if(expected, [](const Event &event) {
    return std::holds_alternative<ProposerFailure>(event.what);
  });
  for (std::size_t count = 0; count <= expected.size(); ++count)
    for (const bool isLate : {false, true}) {
      if (isLate &&
          (count == expected.size() || !std::holds_alternative<Judged>(expected[count].what)))
        continue;
      store_ = killedAfter(count, whole, isLate);
      proposer(2).late = expected.begin() + std::ptrdiff_t(count) <= failed;
      judgements_ = 1000;
      ASSERT_TRUE(search());
      const std::vector<Event> events = store_.events(1).value();
      ASSERT_EQ(events.size(), expected.size()) << "killed after " << count;
      for (std::size_t i = count; i < events.size(); ++i)
        ASSERT_EQ(toJson(events[i]), toJson(expected[i])) << "killed after " << count;
    }
}

TEST_F(SearchLoopTest, WhileOneAskWaitsForAModelTheOthersKeepTheDeviceBusy) {
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    names.push_back(fmt::format("arm {}", i));
    offer(names.back(), {"0.9x", "1.1x", "1.0x", "0.8x"});
    proposer(std::size_t(i)).seconds = i == 0 ? 20 : i == 1 ? 3 : 0.5;
  }
  AllAtOnce strategy(names);
  const auto history = must(search(judge_, strategy));
  EXPECT_EQ(strategy.mostOpen, 8u);
  EXPECT_EQ(history.trials.size(), 1 + 8 * 4u);
  // What the others offer takes 28 s: only the model's last answers are waited for.
  EXPECT_LE(waited_, 1 + 2 * 20) << "its second answer, and the one that says it has no more";
  const auto firstOfModel = std::ranges::find_if(
      history.trials, [](const Trial &trial) { return trial.candidate.proposer == "arm 0"; });
  EXPECT_GE(firstOfModel - history.trials.begin(), 20) << "20 s, but for half a second";

  // The journal replays: the same history, and nothing is asked or judged again.
  const std::vector<std::string> before = recorded();
  judge_.judged.clear();
  const auto replayed = must(search(judge_, strategy));
  EXPECT_THAT(judge_.judged, IsEmpty());
  EXPECT_EQ(recorded(), before);
  for (std::size_t i = 0; i < history.trials.size(); ++i)
    EXPECT_EQ(replayed.trials.at(i).candidateHash, history.trials[i].candidateHash);

  // Killed anywhere, it ends with the same trials, in the order in which answers arrive then.
  const fakes::MemoryStore whole = store_;
  const auto sorted = [&] {
    std::vector<std::string> all = trials();
    std::ranges::sort(all);
    return all;
  };
  const std::vector<std::string> expected = sorted();
  for (std::size_t count = 0; count < before.size(); ++count) {
    store_ = killedAfter(count, whole, false);
    judgements_ = 1000;
    ASSERT_TRUE(search(judge_, strategy));
    EXPECT_EQ(sorted(), expected) << "killed after " << count;
  }
}

TEST_F(SearchLoopTest, WhoAnswersLaterIsAskedLastAndALaterSessionGoesOn) {
  offer("a", {"1.1x", "a2"});
  proposers_.push_back(std::make_unique<LaterProposer>());
  auto &later = static_cast<LaterProposer &>(*proposers_[1]);
  turns_.followers = {"later"}; // it takes no turns
  settings_.last = Ask{0, "later", {}, "", 4};
  const auto reason = [](const SearchHistory &history) {
    return std::get<Stop>(history.events.back().what).reason;
  };
  const auto first = must(search());
  EXPECT_EQ(reason(first), StopReason::WaitsForReplies);
  EXPECT_THAT(later.parents, ElementsAre("1.1x")) << "the best of what the others found";
  const std::vector<std::string> before = recorded();
  EXPECT_EQ(reason(must(search())), StopReason::WaitsForReplies);
  EXPECT_EQ(recorded(), before) << "there is no reply yet";

  const int ask = first.asked.back().ask.id;
  later.replies[ask] = {"1.5x", "wrong"};
  const auto second = must(search());
  EXPECT_EQ(second.best().candidate.title, "1.5x");
  EXPECT_EQ(reason(second), StopReason::WaitsForReplies) << "it is asked again for the new best";
  EXPECT_EQ(later.parents.back(), "1.5x");

  later.replies[ask + 2] = {}; // "a" was asked between them
  const auto third = must(search());
  EXPECT_EQ(reason(third), StopReason::Exhausted) << "it has nothing more";
  EXPECT_EQ(third.trials.size(), second.trials.size());
}

TEST_F(SearchLoopTest, WhoAnswersLaterIsAskedWhenTheTimeIsUpToo) {
  offer("a", {"1.1x", "a2", "1.4x", "a4", "a5", "a6"});
  proposers_.push_back(std::make_unique<LaterProposer>());
  turns_.followers = {"later"};
  settings_.last = Ask{0, "later", {}, "", 4};
  settings_.budget.seconds = 3;
  const auto history = must(search());
  EXPECT_EQ(std::get<Stop>(history.events.back().what).reason, StopReason::WaitsForReplies);
  EXPECT_EQ(history.asked.back().ask.role, "later");
  EXPECT_LT(history.trials.size(), 7u);
}

TEST_F(SearchLoopTest, AFinishedSearchResumesWithoutAJudgement) {
  offer("a", {"1.1x", "a2"});
  ASSERT_TRUE(search());
  const std::vector<std::string> events = recorded();
  judge_.judged.clear();
  ASSERT_TRUE(search());
  EXPECT_THAT(judge_.judged, IsEmpty());
  EXPECT_THAT(judge_.remembered, ElementsAre("1.1x", "a2"));
  EXPECT_EQ(recorded(), events);
}

TEST_F(SearchLoopTest, AProposerThatFailsLosesItsTurnAndTheOthersGoOn) {
  offer("llm", {"fail"});
  offer("b", {"1.2x", "b2"});
  const auto history = must(search());
  EXPECT_EQ(history.best().candidate.title, "1.2x");
  EXPECT_EQ(proposer(0).parents.size(), 3u) << "its next turns are the last";
  EXPECT_THAT(recorded(), testing::Contains(
                              "failed: 'llm' failed: the model cannot be reached; check the key"));
  EXPECT_THAT(recorded(), testing::Contains("failed: 'llm' failed and is not asked again: the "
                                            "model cannot be reached; check the key"));
}

TEST_F(SearchLoopTest, AProposerThatFailedOnceGetsItsNextTurn) {
  offer("llm", {"late", "1.3x"});
  offer("b", {"b1", "b2", "b3", "b4", "b5"});
  proposer(0).late = 2;
  const auto history = must(search());
  EXPECT_EQ(history.best().candidate.title, "1.3x");
  EXPECT_FALSE(history.isGivenUp("llm"));
}

TEST_F(SearchLoopTest, WhatWasJudgedBeforeEveryProposerFailedIsAResultToo) {
  offer("llm", {"same", "fail"});
  const auto history = must(search());
  EXPECT_EQ(history.incumbent, 0u);
  EXPECT_EQ(std::get<Stop>(history.events.back().what).reason, StopReason::ProposersFailed);
}

TEST_F(SearchLoopTest, WhereEveryProposerFailsAtOnceTheErrorIsTheAnswer) {
  offer("llm", {"fail"});
  EXPECT_THAT(search(), fails({.code = ErrorCode::Environment, .hint = "check the key"}));
}

TEST_F(SearchLoopTest, WhatWasFoundBeforeEveryProposerFailedIsTheResult) {
  offer("llm", {"1.2x", "fail"});
  const auto history = must(search());
  EXPECT_EQ(history.best().candidate.title, "1.2x");
  EXPECT_EQ(std::get<Stop>(history.events.back().what).reason, StopReason::ProposersFailed);
}

TEST_F(SearchLoopTest, AJudgeThatIsLostEndsTheSearchWithWhatWasJudgedKept) {
  offer("a", {"1.2x", "lost"});
  EXPECT_THAT(search(), fails({.code = ErrorCode::Environment}));
  EXPECT_THAT(trials(), ElementsAre("baseline", "1.2x"));
}

TEST_F(SearchLoopTest, TheSameSearchRunsOnRecordsAlone) {
  offer("a", {"1.1x", "wrong", "1.4x"});
  const auto live = must(search());
  RecordedJudge recorded(*judge_.baseline(), *store_.trials(1));
  store_ = {};
  judge_.judged.clear();
  const auto simulated = must(search(recorded));
  EXPECT_THAT(judge_.judged, IsEmpty());
  EXPECT_EQ(simulated.best().candidateHash, live.best().candidateHash);
  EXPECT_EQ(simulated.round, live.round);

  offer("b", {"never judged"});
  store_ = {};
  EXPECT_THAT(search(recorded), fails({.code = ErrorCode::StaleInput}));
}

TEST_F(SearchLoopTest, TheWinnerIsTheBestThatHoldsOnFreshSamples) {
  offer("a", {"1.2x", "1.5x lucky", "1.3x"});
  const auto history = must(search());
  auto judge = RecallingJudge::open(judge_, store_, 1);
  auto log = Journal::open(store_, 1);
  const auto winner = confirmWinner(history, *judge, *log);
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ((*winner)->candidate.title, "1.3x");
  EXPECT_EQ((*winner)->speedup->confidence, 0.99) << "the figures are the confirmation's";
  EXPECT_EQ((*winner)->assurance.gaps.at(0).what, "confirmed");
  EXPECT_FALSE((*winner)->counters.empty());
  EXPECT_EQ(std::count(judge_.judged.begin(), judge_.judged.end(), "confirm 1.2x"), 0);
  EXPECT_THAT(recorded(), testing::Contains("reject: '1.5x lucky' on fresh samples: judged"));

  // Again, as --resume does: the store answers.
  judge_.judged.clear();
  auto later = RecallingJudge::open(judge_, store_, 1);
  ASSERT_TRUE(*confirmWinner(history, *later, *log));
  EXPECT_THAT(judge_.judged, IsEmpty());
}

TEST_F(SearchLoopTest, FinalistsThatCannotBeToldApartAreTimedAgainstEachOther) {
  offer("a", {"1.50x flattered", "1.49x", "1.2x"});
  const auto history = must(search());
  auto judge = RecallingJudge::open(judge_, store_, 1);
  auto log = Journal::open(store_, 1);
  const auto winner = confirmWinner(history, *judge, *log);
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ((*winner)->candidate.title, "1.49x");
  EXPECT_THAT(judge_.judged, testing::Contains("1.49x against 1.50x flattered").Times(1));
  EXPECT_THAT(judge_.judged, testing::Not(testing::Contains("1.2x against 1.49x")))
      << "its interval lies below";
  EXPECT_THAT(recorded(), testing::Contains(testing::StartsWith("compare: '1.49x' runs 1.98")));

  // Again, as --resume does: the event log answers.
  judge_.judged.clear();
  auto later = Journal::open(store_, 1);
  ASSERT_TRUE(*confirmWinner(history, *judge, *later));
  EXPECT_THAT(judge_.judged, IsEmpty());
}

TEST_F(SearchLoopTest, OnceTheTimeIsUpOnlyTheBestIsConfirmed) {
  offer("a", {"1.6x lucky", "1.5x"});
  const auto history = search();
  auto judge = RecallingJudge::open(judge_, store_, 1);
  auto log = Journal::open(store_, 1);
  const auto winner = must(confirmWinner(*history, *judge, *log, {{}, {}, [] { return true; }}));
  EXPECT_FALSE(winner);
  EXPECT_EQ(judge_.judged.back(), "confirm 1.6x lucky");
}

TEST_F(SearchLoopTest, TheFastestInTheProgramIsConfirmedFirst) {
  offer("a", {"1.6x", "1.5x", "1.4x"});
  auto history = search();
  // The best was made from the third, which is faster where the kernel is used.
  const auto trialOf = [&](const std::string &title) -> Trial & {
    return *std::ranges::find(history->trials, title,
                              [](const Trial &trial) { return trial.candidate.title; });
  };
  trialOf("1.6x").candidate.parents = {trialOf("1.4x").candidateHash};
  auto judge = RecallingJudge::open(judge_, store_, 1);
  auto log = Journal::open(store_, 1);
  std::vector<std::string> screened;
  const auto screen =
      [&](const std::vector<const Trial *> &trials) -> Result<std::vector<std::optional<double>>> {
    std::vector<std::optional<double>> speedups;
    for (const Trial *trial : trials) {
      const std::string &title = trial->candidate.title;
      screened.push_back(title);
      speedups.push_back(title == "1.5x"   ? std::nullopt
                         : title == "1.4x" ? std::optional(1.2)
                                           : std::optional(1.02));
    }
    return speedups;
  };
  const auto winner = confirmWinner(*history, *judge, *log, {{}, screen, {}});
  ASSERT_TRUE(winner && *winner);
  EXPECT_THAT(screened, ElementsAre("1.6x", "1.4x", "1.5x"));
  EXPECT_EQ((*winner)->candidate.title, "1.4x");
  EXPECT_THAT(recorded(), testing::Contains(testing::HasSubstr("1.6x 1.020x; 1.4x 1.200x; 1.5x "
                                                               "not timed")));

  screened.clear();
  const auto hurried = confirmWinner(*history, *judge, *log, {{}, screen, [] { return true; }});
  ASSERT_TRUE(hurried && *hurried);
  EXPECT_EQ((*hurried)->candidate.title, "1.6x");
  EXPECT_THAT(screened, IsEmpty());
}

TEST_F(SearchLoopTest, AtMostThreeCandidatesAreConfirmed) {
  offer("a", {"1.6x lucky", "1.5x lucky", "1.4x lucky", "1.3x"});
  const auto history = search();
  auto judge = RecallingJudge::open(judge_, store_, 1);
  auto log = Journal::open(store_, 1);
  const auto winner = must(confirmWinner(*history, *judge, *log));
  EXPECT_FALSE(winner);
}

TEST(Improves, AnIncumbentIsReplacedOnlyByASurelyBetterOne) {
  const auto faster = [](double low, double estimate) {
    Trial trial;
    trial.verdict = Verdict::Faster;
    trial.speedup = Speedup{estimate, low, estimate * 1.1, 0.95, 50, false};
    return trial;
  };
  const Trial baseline;
  EXPECT_TRUE(improves(faster(1.2, 1.3), baseline, 0.02));
  EXPECT_FALSE(improves(faster(1.01, 1.3), baseline, 0.02));
  EXPECT_FALSE(
      improves(faster(1.2, 1.4), faster(1.2, 1.3), 0.02)); // its interval reaches below 1.3
  EXPECT_TRUE(improves(faster(1.4, 1.5), faster(1.2, 1.3), 0.02));
  Trial slower = faster(1.4, 1.5);
  slower.verdict = Verdict::Slower;
  EXPECT_FALSE(improves(slower, baseline, 0.02));
}

TEST(WhatVanished, ALargeGainSaysWhichWorkIsGone) {
  Trial before, after;
  before.counters = {{"smsp__inst_executed.sum", 50000}, {"sass__loop_inst", 8}};
  after.counters = {{"smsp__inst_executed.sum", 100}, {"sass__loop_inst", 7}};
  before.hotLines = {LineSource::Emulated,
                     "",
                     "L",
                     48000,
                     3000,
                     {{"k.cu", 7, "sum += p[i];", 40000, 3000},
                      {"k.cu", 6, "for (int i = 0; i < n; ++i)", 8000, 0},
                      {"k.cu", 9, "while (left > 0)", 500, 0}}};
  after.hotLines = {
      LineSource::Emulated, "", "L", 100, 30, {{"k.cu", 8, "while (left > 0)", 90, 0}}};
  after.speedup = Speedup{};
  after.speedup->estimate = 9;
  EXPECT_EQ(whatVanished(before, after), "");
  after.speedup->estimate = 200;
  const std::string told = whatVanished(before, after);
  EXPECT_THAT(told, testing::HasSubstr("warp instructions fell from 50000 to 100"));
  EXPECT_THAT(told,
              testing::HasSubstr("bytes of global memory in requests fell from 96000 to 960"));
  EXPECT_THAT(told, testing::HasSubstr(
                        "the loop at k.cu:6, 'for (int i = 0; i < n; ++i)', fell from 8000 to 0"));
  EXPECT_THAT(told, testing::Not(testing::HasSubstr("while")));
  EXPECT_THAT(told, testing::Not(testing::HasSubstr("code")));
}

} // namespace
} // namespace kopt
