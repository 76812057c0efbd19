// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/TurnWeights.h"

#include "driver/app/tune/TuneClock.h"
#include "fakes/FakeClock.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(TurnWeights, WithoutHeadroomsTheSharesDecide) {
  const TurnWeights weights({0.6, 0.3, 0.1});
  EXPECT_NEAR(weights.of(0) / weights.from(0), 0.6, 1e-12);
  EXPECT_NEAR(weights.of(1) / weights.from(1), 0.75, 1e-12);
  const TurnWeights unknown({std::nullopt, std::nullopt});
  EXPECT_NEAR(unknown.of(0) / unknown.from(0), 0.5, 1e-12);
}

TEST(TurnWeights, AreWhatCanStillBeGained) {
  TurnWeights weights({0.6, 0.3, 0.1});
  EXPECT_FALSE(weights.isKnown(0));
  weights.learn(0, 1.25);
  weights.learn(1, 4);
  weights.learn(2, 0); // not known
  EXPECT_TRUE(weights.isKnown(0));
  EXPECT_FALSE(weights.isKnown(2));
  EXPECT_NEAR(weights.of(0), 0.6 * 0.2, 1e-12);
  EXPECT_NEAR(weights.of(1), 0.3 * 0.75, 1e-12);
  EXPECT_NEAR(weights.of(2), 0.1 * 0.5, 1e-12);
  EXPECT_NEAR(weights.from(1), 0.225 + 0.05, 1e-12);
}

TEST(TurnWeights, KernelsOfWhichNothingIsLeftShareTheTime) {
  TurnWeights weights({0.8, 0.2});
  weights.learn(0, 1);
  weights.learn(1, 1);
  EXPECT_NEAR(weights.of(0) / weights.from(0), 0.8, 1e-12);
}

class TurnTime : public testing::Test {
protected:
  void begin(double seconds) {
    time_.beginBudget(seconds, false);
    ASSERT_TRUE(time_.beginTurn(weights_.of(0), weights_.from(0), 0, true));
    ASSERT_TRUE(time_.time("baseline", [&]() -> std::optional<int> {
      clock_.advance(5);
      return 1;
    }));
  }
  /// The seconds of the first kernel's turn if its baseline says that so much is left.
  double limitWith(double headroom) {
    weights_.learn(0, headroom);
    time_.shareAgain(weights_.of(0), weights_.from(0));
    return time_.turnLimit();
  }
  fakes::FakeClock clock_;
  TuneClock time_{clock_};
  TurnWeights weights_{{0.6, 0.4}};
};

TEST_F(TurnTime, FollowsWhatTheBaselineSaysIsLeft) {
  begin(105);
  EXPECT_NEAR(time_.turnLimit(), 63, 1e-9);
  // A tenth of 0.6 against half of 0.4, of the 100 s that the baseline left.
  EXPECT_NEAR(limitWith(1 / 0.9), 5 + 100 * 0.06 / 0.26, 1e-9);
  EXPECT_NEAR(limitWith(10), 5 + 100 * 0.54 / 0.74, 1e-9);
  EXPECT_NEAR(time_.turnLeft()(), time_.turnLimit() - 5, 1e-9);
}

TEST_F(TurnTime, IsEnoughForACandidateHoweverLittleIsLeft) {
  begin(105);
  EXPECT_NEAR(limitWith(1), 15, 1e-9); // three times what the baseline took
}

TEST_F(TurnTime, HasNoLimitWhereTheSessionHasNone) {
  begin(0);
  EXPECT_EQ(limitWith(1), 0);
  EXPECT_FALSE(time_.turnLeft());
}

} // namespace
} // namespace kopt
