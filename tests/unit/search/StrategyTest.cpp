// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"

#include <gtest/gtest.h>

using namespace kopt;

namespace {

Trial faster(double low, double estimate) {
  Trial trial;
  trial.verdict = Verdict::Faster;
  trial.speedup = Speedup{estimate, low, estimate * 1.1, 0.95, 50, false};
  return trial;
}

TEST(Strategy, ProposersTakeTurnsAndTheExhaustedArePassedOver) {
  TurnStrategy strategy(4);
  SearchState state;
  state.proposers = {"params", "transform"};
  state.exhausted = {false, false};
  EXPECT_EQ(strategy.next(state).proposer, 0u);
  state.round = 1;
  EXPECT_EQ(strategy.next(state).proposer, 1u);
  state.exhausted[1] = true;
  EXPECT_EQ(strategy.next(state).proposer, 0u);
  state.exhausted[0] = true;
  EXPECT_TRUE(strategy.next(state).stop);
}

TEST(Strategy, AnIncumbentIsReplacedOnlyByASurelyBetterOne) {
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

TEST(Strategy, EveryLimitStopsTheSearchAndSaysSo) {
  std::vector<Trial> history(5);
  history[0] = faster(1.6, 1.7);
  SearchState state;
  state.history = &history;
  state.incumbent = &history[0];
  state.round = 3;
  state.roundsSinceGain = 2;
  EXPECT_FALSE(budgetReached({}, state, 1e9));
  Budget budget;
  budget.rounds = 3;
  EXPECT_NE(budgetReached(budget, state, 0)->find("3 rounds"), std::string::npos);
  budget = {};
  budget.trials = 5;
  EXPECT_TRUE(budgetReached(budget, state, 0));
  budget = {};
  budget.seconds = 10;
  EXPECT_FALSE(budgetReached(budget, state, 9.9));
  EXPECT_TRUE(budgetReached(budget, state, 10));
  budget = {};
  budget.patience = 2;
  EXPECT_TRUE(budgetReached(budget, state, 0));
  budget = {};
  budget.target = 1.65;
  EXPECT_FALSE(budgetReached(budget, state, 0)); // the lower bound counts, not the estimate
  budget.target = 1.5;
  EXPECT_TRUE(budgetReached(budget, state, 0));
}

} // namespace
