// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Budget.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

SearchHistory history() {
  SearchHistory history;
  history.trials.resize(5);
  history.trials[0].verdict = Verdict::Faster;
  history.trials[0].speedup = Speedup{1.7, 1.6, 1.8, 0.95, 50, false};
  history.round = 3;
  history.roundsSinceGain = 2;
  return history;
}

StopReason reasonOf(const Budget &budget, double seconds = 0) {
  return std::get<Stop>(budgetReached(budget, history(), seconds)->what).reason;
}

TEST(Budget, WithoutLimitsNothingEndsTheSearch) { EXPECT_FALSE(budgetReached({}, history(), 1e9)); }

TEST(Budget, EachLimitIsNamed) {
  EXPECT_EQ(reasonOf({.rounds = 3}), StopReason::Rounds);
  EXPECT_EQ(reasonOf({.trials = 5}), StopReason::Trials);
  EXPECT_EQ(reasonOf({.seconds = 10}, 10), StopReason::Seconds);
  EXPECT_EQ(reasonOf({.patience = 2}), StopReason::Patience);
  EXPECT_EQ(reasonOf({.target = 1.5}), StopReason::Target);
}

TEST(Budget, JustBeforeALimitTheSearchGoesOn) {
  EXPECT_FALSE(budgetReached({.rounds = 4}, history(), 0));
  EXPECT_FALSE(budgetReached({.trials = 6}, history(), 0));
  EXPECT_FALSE(budgetReached({.seconds = 10}, history(), 9.9));
  EXPECT_FALSE(budgetReached({.patience = 3}, history(), 0));
  EXPECT_FALSE(budgetReached({.target = 1.65}, history(), 0)) << "the lower bound counts";
}

} // namespace
} // namespace kopt
