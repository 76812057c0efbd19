// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/TrialExplainer.h"

#include "driver/model/Json.h"
#include "tests/fakes/Results.h"
#include "unit/report/SampleHistories.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> kindsOf(const std::vector<Explanation> &explanations) {
  std::vector<std::string> kinds;
  for (const Explanation &entry : explanations)
    kinds.push_back(entry.kind);
  return kinds;
}

TEST(Explain, SaysEachDecisionInOrderWithItsReason) {
  const RunHistory history = syntheticRun(40);
  const auto explanations = explainRun(history);
  const std::string text = inText(explanations);
  const auto position = [&](const std::string &words) {
    const std::size_t at = text.find(words);
    EXPECT_NE(at, std::string::npos) << words << "\n" << text;
    return at;
  };
  const std::size_t order[] = {
      position("The baseline, your own kernel"),
      position("uncoalesced-global-stores (high)"),
      position("Round 1: 'params' was asked"),
      position("'params' offered 6 candidates."),
      position("Accepted: "),
      position("Round 2: 'transform' was asked"),
      position("The search stopped after"),
      position("was judged again on fresh inputs and samples, and it held"),
      position("In the program ('session-synthetic'): confirmed"),
      position("The winner is ")};
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_THAT(text, HasSubstr("because: uncoalesced-global-stores: 32 sectors"));
  EXPECT_THAT(text, HasSubstr("because 40 trials are done"));
}

TEST(Explain, NamesEveryTrialWithItsOutcome) {
  const RunHistory history = syntheticRun(200);
  const std::string text = inText(explainRun(history));
  for (std::size_t i = 1; i < history.trials.size(); ++i)
    if (history.trials[i].purpose == Purpose::Search)
      EXPECT_THAT(text, HasSubstr(fmt::format("#{} '{}': {}, decided at", i,
                                              history.trials[i].candidate.title,
                                              verdictInWords(history.trials[i].verdict))));
}

TEST(Explain, TimesNeverGoBack) {
  double last = 0;
  for (const Explanation &entry : explainRun(syntheticRun(200))) {
    EXPECT_GE(entry.seconds, last) << entry.text;
    last = entry.seconds;
  }
  EXPECT_GT(last, 100);
}

TEST(Explain, SaysByHowMuchARoundMissed) {
  const auto explanations = explainRun(withoutWin(syntheticRun(40)));
  EXPECT_THAT(kindsOf(explanations), testing::Contains("keep"));
  const std::string text = inText(explanations);
  EXPECT_THAT(text, HasSubstr("The incumbent stayed: none of the candidates was faster"));
  EXPECT_THAT(text, HasSubstr("Nothing had been accepted."));
  EXPECT_THAT(text, HasSubstr("No candidate won: there is nothing to apply."));
  EXPECT_THAT(text, Not(HasSubstr("Accepted:")));
}

TEST(Explain, SaysThatARunWasInterrupted) {
  const std::string text = inText(explainRun(interrupted(syntheticRun(40))));
  EXPECT_THAT(text, HasSubstr("2 of them were judged; the run ended, or was interrupted"));
  EXPECT_THAT(text, HasSubstr("--resume continues it"));
  EXPECT_THAT(text, Not(HasSubstr("The search stopped")));
}

TEST(Explain, WhyNothingWasTriedOnAKernelAtItsRoof) {
  RunHistory history = withoutWin(syntheticRun(40));
  Event stop{1, 0, Stop{StopReason::AtRoof, 1.03}};
  stop.evidence = {{"percent_reached", history.trials[0].candidateHash, 97}};
  history.events = {stop};
  const auto explanations = explainRun(history);
  EXPECT_THAT(inText(explanations), HasSubstr("after 0 rounds, because the kernel is at its roof: "
                                              "at most 1.03x is left"));
  const auto entry = std::ranges::find(explanations, "stop", &Explanation::kind);
  ASSERT_NE(entry, explanations.end());
  EXPECT_EQ(entry->evidence.at(0).value, 97);
}

TEST(Explain, OfAProposerThatFailed) {
  RunHistory history = interrupted(syntheticRun(40));
  history.events = {{1, 0, Ask{1, "llm", {history.trials[0].candidateHash}, "", 6}},
                    {2, 0, ProposerFailure{1, "llm", "no key", false}},
                    {3, 1, Stop{StopReason::Target, 1.5}}};
  const std::string text = inText(explainRun(history));
  EXPECT_THAT(text, HasSubstr("'params', whose turn it was, had nothing left"));
  EXPECT_THAT(text, HasSubstr("'llm' failed and lost its turn: no key"));
  EXPECT_THAT(text, HasSubstr("because the target of 1.50x is reached"));
}

TEST(Explain, WhatFollowsTrialsTakesNoTurn) {
  RunHistory history = interrupted(syntheticRun(40));
  const std::vector<std::string> parents = {history.trials[0].candidateHash};
  history.events = {{1, 0, Ask{1, "params", parents, "", 6}},
                    {2, 0, Offered{1, "params", std::vector<Candidate>(6)}},
                    {3, 1, Ask{2, "classes", parents, "", 6}},
                    {4, 1, Offered{2, "classes", std::vector<Candidate>(1)}},
                    {5, 2, Ask{3, "classes", parents, "", 6}},
                    {6, 2, Offered{3, "classes", {}}},
                    {7, 2, Ask{4, "transform", parents, "", 6}}};
  const std::string text = inText(explainRun(history));
  EXPECT_THAT(text, HasSubstr("because candidates were faster on some launches only"));
  EXPECT_THAT(text, HasSubstr("'classes' had nothing to offer for this parent.\n"));
  EXPECT_THAT(text, testing::ContainsRegex("'transform' was asked.*it was its turn"));
}

TEST(Explain, AChoiceOfAPortfolioRestsOnWhatItPromises) {
  RunHistory history = syntheticRun(40);
  for (Event &event : history.events)
    if (std::holds_alternative<Ask>(event.what))
      event.evidence = {{"gate breadth: nothing gained in 8 trials", "", 1},
                        {"expected log gain over the best", "", 0.05},
                        {"chance to gain", "", 0.4},
                        {"log gain if it does", "", 0.2},
                        {"trials of the technique", "", 3},
                        {"recommended by a rule", "", 1},
                        {"log speedup that it led to before", "", 0.5}};
  const std::string text = inText(explainRun(history));
  EXPECT_THAT(text, HasSubstr("because gate breadth: nothing gained in 8 trials; of what that "
                              "leaves, it promises most: 40% of such candidates are expected to "
                              "gain, 1.22x on average (trials of the technique so far: 3); a rule "
                              "that fires recommends it; in an earlier run it led to 1.65x."));
  EXPECT_THAT(text, Not(HasSubstr("take turns")));
}

TEST(Explain, OneTrialByNumberOrHash) {
  const RunHistory history = syntheticRun(40);
  const std::size_t winner = *history.indexOf(history.run.winnerHash);
  const auto byNumber = must(explainTrial(history, std::to_string(winner)));
  const std::string text = inText(byNumber);
  EXPECT_THAT(text, AllOf(HasSubstr("was proposed by"), HasSubstr("Verdict: faster"),
                          HasSubstr("It was accepted"), HasSubstr("It is the winner")));
  const auto byHash = must(explainTrial(history, history.run.winnerHash));
  EXPECT_EQ(inText(byHash), text);
  EXPECT_TRUE(explainTrial(history, "#0"));
  EXPECT_THAT(explainTrial(history, "4711"),
              fails({.code = ErrorCode::Usage, .hint = HasSubstr("numbered from 0 to")}));
}

TEST(Explain, NamesTheHotLinesOfTheBaselineAndTheWinner) {
  const RunHistory history = syntheticRun(40);
  EXPECT_THAT(inText(explainRun(history)),
              HasSubstr("hot line (emulated): src/transpose.cu:4 has 70.0% of the instructions and "
                        "75.0% of the sectors: out[0] = in[0] * tile[0][0];"));
  const auto winner = must(explainTrial(history, history.run.winnerHash));
  EXPECT_THAT(inText(winner), HasSubstr("src/transpose.cu:5 has 70.0% of the instructions"));
  EXPECT_THAT(inText(winner), HasSubstr("No GPU counted them"));
}

TEST(Explain, OfARefusedTrialSaysWhichCheckRefused) {
  const RunHistory history = syntheticRun(40);
  for (std::size_t i = 0; i < history.trials.size(); ++i)
    if (history.trials[i].verdict == Verdict::WrongResult) {
      const auto explanations = must(explainTrial(history, std::to_string(i)));
      EXPECT_THAT(inText(explanations),
                  HasSubstr("Verdict: wrong result, decided at the stage 'verify', by the check "
                            "'fresh', after"));
      return;
    }
  FAIL() << "the synthetic run has no wrong result";
}

TEST(Explain, AsJsonHasTheStoredEvidence) {
  for (const auto &entry : toJson(explainRun(syntheticRun(40))))
    if (entry["kind"] == "accept") {
      EXPECT_EQ(entry["evidence"][0]["what"], "speedup low");
      EXPECT_GT(entry["evidence"][0]["value"].get<double>(), 1);
      return;
    }
  FAIL() << "nothing was accepted";
}

} // namespace
} // namespace kopt
