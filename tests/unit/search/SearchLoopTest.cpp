// SPDX-License-Identifier: Apache-2.0
// The whole loop over a recorded or a fake judge, a store in memory and a fake clock.
#include "driver/search/SearchLoop.h"
#include "driver/judge/RecallingJudge.h"
#include "driver/search/Confirmation.h"
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
  ListProposer(std::string name, std::vector<std::string> titles)
      : name_(std::move(name)), titles_(std::move(titles)) {}
  std::string name() const override { return name_; }
  bool followsTrials() const override { return follows; }
  Result<std::vector<Candidate>> propose(const ProposalContext &context,
                                         std::size_t limit) override {
    parents.push_back(context.parent().title);
    metrics.push_back(context.diagnosis().skipped.empty() ? "" : context.diagnosis().skipped[0]);
    if (late-- > 0)
      return makeError(ErrorCode::Environment, "the model did not answer in time");
    std::vector<Candidate> candidates;
    for (const std::string &title : titles_) {
      if (title == "fail" && candidates.empty()) // nothing else is left
        return makeError(ErrorCode::Environment, "the model cannot be reached", "check the key");
      Candidate candidate;
      candidate.proposer = name_;
      candidate.title = title;
      candidate.technique = title.find("tile") != std::string::npos ? "tile" : "other";
      candidate.constants[name_ + title] = 1; // what it is told apart by
      if (derives)
        candidate.parents = {context.parentTrial().candidateHash};
      const bool known = std::ranges::any_of(context.history, [&](const Trial &trial) {
        return trial.candidateHash == candidate.contentHash();
      });
      if (!known && candidates.size() < limit)
        candidates.push_back(std::move(candidate));
    }
    return candidates;
  }
  std::vector<std::string> parents, metrics;
  int late = 0; ///< turns on which it fails first
  bool follows = false, derives = false;

private:
  std::string name_;
  std::vector<std::string> titles_;
};

/// Asks one proposer once, for one technique.
class OneQuestion final : public Strategy {
public:
  Decision decide(const SearchHistory &history) override {
    Decision decision;
    decision.round = history.round;
    if (history.trials.size() == 1)
      decision.what = Ask{"a", {history.trials[0].candidateHash}, "tile", 9};
    else
      decision.what = Stop{StopReason::Exhausted};
    return decision;
  }
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
    KOPT_TRY(RecallingJudge judge, RecallingJudge::open(inner, store_, 1));
    KOPT_TRY(DecisionLog log, DecisionLog::open(store_, 1));
    KOPT_TRY(const Baseline baseline, judge.baseline());
    const SearchServices services{judge,
                                  strategy,
                                  proposers_,
                                  log,
                                  clock_,
                                  observer_,
                                  [](const Counters &counters) {
                                    Diagnosis diagnosis;
                                    for (const auto &[name, value] : counters)
                                      diagnosis.skipped.push_back(name);
                                    return diagnosis;
                                  },
                                  [this] { return judgements_-- <= 0; }};
    const SearchProblem problem{kernel_, specialization_, workload_, slice_, device_};
    return SearchLoop(services, problem, settings_).run(baseline);
  }
  Result<SearchHistory> search() { return search(judge_, *strategy_); }

  std::vector<std::string> recorded() {
    std::vector<std::string> lines;
    const auto decisions = store_.decisions(1);
    for (const Decision &decision : *decisions)
      lines.push_back(std::string(kindOf(decision)) + ": " + describe(decision));
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
  std::unique_ptr<Strategy> strategy_ = makeTurnStrategy(2);
  std::vector<std::unique_ptr<Proposer>> proposers_;
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
  EXPECT_EQ(std::get<Stop>(history.decisions.back().what).reason, StopReason::Exhausted);
  EXPECT_EQ(history.round, 3);
  EXPECT_EQ(history.roundsSinceGain, 3);
  EXPECT_EQ(history.incumbent, 0u);
}

TEST_F(SearchLoopTest, WhatFollowsTrialsIsAskedWhenOneIsFasterOnSomeLaunchesOnly) {
  offer("a", {"a1", "a2", "split", "a4", "a5"});
  offer("b", {"b1", "b2", "b3"});
  offer("f", {"f1", "f2", "f3", "f4", "f5", "f6"});
  proposer(2).follows = true;
  workload_.launches.resize(2);
  const auto history = must(search());
  // It takes no turn, so those of the others stay as they are, and its own trials are no reason to
  // ask it again.
  EXPECT_THAT(judge_.judged, ElementsAre("a1", "a2", "b1", "b2", "split", "a4", "f1", "f2", "b3",
                                         "f3", "f4", "a5", "f5", "f6"));
  EXPECT_THAT(history.proposers, ElementsAre("a", "b"));
  EXPECT_EQ(history.round, 8);
  EXPECT_EQ(history.roundsSinceGain, 5) << "the rounds of those that take turns";
}

TEST_F(SearchLoopTest, WithoutSuchATrialNothingFollows) {
  offer("a", {"a1", "1.5x"});
  offer("f", {"f1"});
  proposer(1).follows = true;
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
  EXPECT_EQ(history.roundsSinceGain, 1);
}

TEST_F(SearchLoopTest, ACandidateIsNamedByWhatItKeepsOfItsParentAsWell) {
  offer("a", {"1.10x", "1.30x", "wider"});
  proposer(0).derives = true;
  const auto history = must(search());
  std::vector<std::string> titles;
  for (const Trial &trial : history.trials)
    titles.push_back(trial.candidate.title);
  EXPECT_THAT(titles, ElementsAre("baseline", "1.10x", "1.30x", "1.30x + wider"));
}

TEST_F(SearchLoopTest, WhatFailsOrGainsNothingIsNeverAccepted) {
  offer("a", {"wrong 2.0x", "same", "1.005x"});
  const auto history = must(search());
  EXPECT_EQ(history.incumbent, 0u);
  EXPECT_EQ(judge_.counted, 0);
}

TEST_F(SearchLoopTest, PatienceCountsRoundsSinceTheLastGain) {
  offer("a", {"1.1x", "x1", "x2", "x3", "1.5x", "x5", "x6", "x7", "x8", "x9"});
  settings_.budget.patience = 2;
  const auto history = must(search());
  const Stop stop = std::get<Stop>(history.decisions.back().what);
  EXPECT_EQ(stop.reason, StopReason::Patience);
  EXPECT_EQ(stop.limit, 2);
  EXPECT_EQ(history.best().candidate.title, "1.5x");
  EXPECT_EQ(history.round, 5);
}

TEST_F(SearchLoopTest, NoBudgetIsExceeded) {
  offer("a", {"1", "2", "3", "4", "5", "6", "7", "8", "9"});
  settings_.budget.trials = 4; // the baseline is one of them
  EXPECT_EQ(std::get<Stop>(search()->decisions.back().what).reason, StopReason::Trials);
  EXPECT_THAT(judge_.judged, ElementsAre("1", "2", "3"));
}

TEST_F(SearchLoopTest, NoCandidateIsBegunThatTheTimeBudgetDoesNotLast) {
  offer("a", {"1", "2", "3", "4", "5", "6", "7", "8", "9"});
  settings_.budget.seconds = 8; // each judgement takes one, and a confirmation three
  settings_.secondsUsed = 1;
  const auto history = search();
  const Stop stop = std::get<Stop>(history->decisions.back().what);
  EXPECT_EQ(stop.reason, StopReason::Seconds);
  EXPECT_EQ(judge_.judged.size(), 3u) << "in the middle of a round";
  EXPECT_EQ(history->decisions.back().evidence.front().value, 8)
      << "with the next one and a confirmation";
}

TEST_F(SearchLoopTest, WhatTheFirstWaitedToBeBuiltIsNotExpectedOfTheOthers) {
  offer("a", {"1", "2", "3", "4", "5", "6"});
  strategy_ = makeTurnStrategy(6);     // all of them in one round
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
  EXPECT_EQ(std::get<Stop>(history->decisions.back().what).reason, StopReason::Seconds);
  EXPECT_EQ(judge_.judged.size(), std::size_t(8 - secondsToConfirm(*history) - 1));
  EXPECT_GT(secondsToConfirm(*history), 0);
}

TEST_F(SearchLoopTest, ARoundThatTheTimeCutShortGoesOnWithMoreTime) {
  offer("a", {"1.1x", "a2", "1.4x", "a4", "a5", "a6"});
  strategy_ = makeTurnStrategy(3);
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

TEST_F(SearchLoopTest, AFinishedSearchResumesWithoutAJudgement) {
  offer("a", {"1.1x", "a2"});
  ASSERT_TRUE(search());
  const std::vector<std::string> decisions = recorded();
  judge_.judged.clear();
  ASSERT_TRUE(search());
  EXPECT_THAT(judge_.judged, IsEmpty());
  EXPECT_THAT(judge_.remembered, ElementsAre("1.1x", "a2"));
  EXPECT_EQ(recorded(), decisions);
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
  EXPECT_TRUE(history.failed.empty());
}

TEST_F(SearchLoopTest, WhatWasJudgedBeforeEveryProposerFailedIsAResultToo) {
  offer("llm", {"same", "fail"});
  const auto history = must(search());
  EXPECT_EQ(history.incumbent, 0u);
  EXPECT_EQ(std::get<Stop>(history.decisions.back().what).reason, StopReason::ProposersFailed);
}

TEST_F(SearchLoopTest, WhereEveryProposerFailsAtOnceTheErrorIsTheAnswer) {
  offer("llm", {"fail"});
  EXPECT_THAT(search(), fails({.code = ErrorCode::Environment, .hint = "check the key"}));
}

TEST_F(SearchLoopTest, WhatWasFoundBeforeEveryProposerFailedIsTheResult) {
  offer("llm", {"1.2x", "fail"});
  const auto history = must(search());
  EXPECT_EQ(history.best().candidate.title, "1.2x");
  EXPECT_EQ(std::get<Stop>(history.decisions.back().what).reason, StopReason::ProposersFailed);
}

TEST_F(SearchLoopTest, AJudgeThatIsLostEndsTheSearchWithWhatWasJudgedKept) {
  offer("a", {"1.2x", "lost"});
  EXPECT_THAT(search(), fails({.code = ErrorCode::Environment}));
  EXPECT_THAT(trials(), ElementsAre("baseline", "1.2x"));
}

TEST_F(SearchLoopTest, OnlyCandidatesOfTheTechniqueThatWasAskedForAreJudged) {
  offer("a", {"1.1x tile", "1.5x", "1.2x tile"});
  OneQuestion strategy;
  ASSERT_TRUE(search(judge_, strategy));
  EXPECT_THAT(judge_.judged, ElementsAre("1.1x tile", "1.2x tile"));
}

TEST_F(SearchLoopTest, TheSameSearchRunsOnRecordsAlone) {
  offer("a", {"1.1x", "wrong", "1.4x"});
  const auto live = must(search());
  RecordedJudge recorded(*judge_.baseline(), *store_.trials(1));
  store_ = {};
  judge_.judged.clear();
  const auto simulated = must(search(recorded, *strategy_));
  EXPECT_THAT(judge_.judged, IsEmpty());
  EXPECT_EQ(simulated.best().candidateHash, live.best().candidateHash);
  EXPECT_EQ(simulated.round, live.round);

  offer("b", {"never judged"});
  store_ = {};
  EXPECT_THAT(search(recorded, *strategy_), fails({.code = ErrorCode::StaleInput}));
}

TEST_F(SearchLoopTest, TheWinnerIsTheBestThatHoldsOnFreshSamples) {
  offer("a", {"1.2x", "1.5x lucky", "1.3x"});
  const auto history = must(search());
  auto judge = RecallingJudge::open(judge_, store_, 1);
  auto log = DecisionLog::open(store_, 1);
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
  auto log = DecisionLog::open(store_, 1);
  const auto winner = confirmWinner(history, *judge, *log);
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ((*winner)->candidate.title, "1.49x");
  EXPECT_THAT(judge_.judged, testing::Contains("1.49x against 1.50x flattered").Times(1));
  EXPECT_THAT(judge_.judged, testing::Not(testing::Contains("1.2x against 1.49x")))
      << "its interval lies below";
  EXPECT_THAT(recorded(), testing::Contains(testing::StartsWith("compare: '1.49x' runs 1.98")));

  // Again, as --resume does: the decision log answers.
  judge_.judged.clear();
  auto later = DecisionLog::open(store_, 1);
  ASSERT_TRUE(*confirmWinner(history, *judge, *later));
  EXPECT_THAT(judge_.judged, IsEmpty());
}

TEST_F(SearchLoopTest, OnceTheTimeIsUpOnlyTheBestIsConfirmed) {
  offer("a", {"1.6x lucky", "1.5x"});
  const auto history = search();
  auto judge = RecallingJudge::open(judge_, store_, 1);
  auto log = DecisionLog::open(store_, 1);
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
  auto log = DecisionLog::open(store_, 1);
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
  auto log = DecisionLog::open(store_, 1);
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
