// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Budget.h"

#include "fakes/FakeClock.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

SearchHistory history() {
  SearchHistory history;
  history.trials.resize(5);
  history.trials[0].verdict = Verdict::Faster;
  history.trials[0].speedup = Speedup{1.7, 1.6, 1.8, 0.95, 50, false};
  return history;
}

StopReason reasonOf(const Budget &budget, double seconds = 0) {
  return std::get<Stop>(budgetReached(budget, history(), seconds)->what).reason;
}

TEST(Budget, WithoutLimitsNothingEndsTheSearch) { EXPECT_FALSE(budgetReached({}, history(), 1e9)); }

TEST(Budget, EachLimitIsNamed) {
  EXPECT_EQ(reasonOf({.trials = 5}), StopReason::Trials);
  EXPECT_EQ(reasonOf({.seconds = 10}, 10), StopReason::Seconds);
  EXPECT_EQ(reasonOf({.target = 1.5}), StopReason::Target);
}

TEST(Budget, JustBeforeALimitTheSearchGoesOn) {
  EXPECT_FALSE(budgetReached({.trials = 6}, history(), 0));
  EXPECT_FALSE(budgetReached({.seconds = 10}, history(), 9.9));
  EXPECT_FALSE(budgetReached({.target = 1.65}, history(), 0)) << "the lower bound counts";
}

TEST(Budget, ATimeThatTheBaselineHasIsReachedAtOnce) {
  SearchHistory history;
  history.trials.resize(1);
  history.trials[0].verdict = Verdict::Same;
  history.trials[0].speedup = Speedup{1, 0.98, 1.02};
  ASSERT_TRUE(budgetReached({.target = 0.9}, history, 0));
  EXPECT_EQ(std::get<Stop>(budgetReached({.target = 0.9}, history, 0)->what).reason,
            StopReason::Target);
  EXPECT_FALSE(budgetReached({.target = 1.1}, history, 0));
}

TEST(TimeBudget, IsSharedByWeightAndWhatOneLeavesIsForTheOthers) {
  fakes::FakeClock clock;
  const TimeBudget budget(clock, 40);
  EXPECT_DOUBLE_EQ(budget.shareOf(0.6, 0.8), 30);
  clock.advance(10); // the first one had enough
  EXPECT_DOUBLE_EQ(budget.left(), 30);
  EXPECT_DOUBLE_EQ(budget.shareOf(0.15, 0.2), 22.5);
  EXPECT_DOUBLE_EQ(budget.shareOf(0.1, 0.2, /*fewest=*/20), 20);
  EXPECT_DOUBLE_EQ(budget.shareOf(0.1, 0.2, /*fewest=*/200), 30);
  clock.advance(100);
  EXPECT_EQ(budget.left(), 0);
  EXPECT_EQ(budget.shareOf(0.05, 0.05), 0);
  EXPECT_DOUBLE_EQ(budget.used(), 110);
}

TEST(TimeBudget, ZeroIsNoLimit) {
  fakes::FakeClock clock;
  const TimeBudget budget(clock, 0);
  clock.advance(1e6);
  EXPECT_GT(budget.left(), 1e12);
}

TEST(TimeBudget, AConfirmationTakesWhatChecksAndTimingTook) {
  SearchHistory history;
  history.trials.resize(3);
  history.trials[0].speedup.emplace(); // the baseline
  history.trials[0].seconds = 100;
  history.trials[1].verdict = Verdict::Rejected;
  history.trials[1].seconds = 50;
  EXPECT_EQ(secondsToConfirm(history), 0) << "nothing was timed";
  Trial &trial = history.trials[2];
  trial.verdict = Verdict::Slower;
  trial.speedup.emplace();
  trial.seconds = 20;
  trial.stages = {{"wait", 7},
                  {"build/compile", 2},
                  {"verify/read", 0.2},
                  {"verify/judge", 0.1},
                  {"time/sample", 1}};
  EXPECT_NEAR(secondsToConfirm(history), 3 + 2 * 0.3 + 4.5, 1e-9) << "the next one may be faster";
  trial.verdict = Verdict::Faster;
  EXPECT_NEAR(secondsToConfirm(history), 3 + 2 * 0.3 + 4.5 + 12 * 0.3, 1e-9)
      << "what only winners are asked is learned then";
  trial.stages["verify/read"] = 10;
  EXPECT_NEAR(secondsToConfirm(history), 3 + 2 * 10.1 + 4.5 + 12, 1e-9) << "in limited time";
  trial.speedup->modelled = true;
  EXPECT_NEAR(secondsToConfirm(history), 3 * 11.0, 1e-9) << "without the build";
}

TEST(TimeBudget, WhatAWinnerWasAskedAtOnceIsNotExpectedAgain) {
  SearchHistory history;
  history.trials.resize(2);
  history.trials[0].speedup.emplace();
  Trial &trial = history.trials[1]; // its gain was hard to believe
  trial.verdict = Verdict::Faster;
  trial.speedup.emplace();
  trial.stages = {{"baseline/checks", 1.1}, {"verify/check", 0.2},     {"verify/coverage", 0.5},
                  {"verify/sanitizer", 4},  {"verify/emulated", 0.01}, {"time/sample", 0.1}};
  EXPECT_NEAR(secondsToConfirm(history), 3 + 2 * 0.2 + 4.5 * 0.1, 1e-9);
}

TEST(TimeBudget, WhatIsReservedIsNotLeft) {
  fakes::FakeClock clock;
  TimeBudget budget(clock, 40);
  budget.reserve(3);
  clock.advance(10);
  EXPECT_DOUBLE_EQ(budget.left(), 27);
  budget.reserve(0);
  EXPECT_DOUBLE_EQ(budget.left(), 30);
}

} // namespace
} // namespace kopt
