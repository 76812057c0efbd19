// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Beliefs.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(Beliefs, BeginWithThePrior) {
  const Beliefs beliefs({{"jam", {.mean = 0.5, .deviation = 0.1, .valid = 0.9, .seconds = 3}}});
  const Expectation jam = beliefs.of("jam"), other = beliefs.of("unroll");
  EXPECT_DOUBLE_EQ(jam.mean, 0.5);
  EXPECT_NEAR(jam.deviation, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(jam.valid, 0.9);
  EXPECT_DOUBLE_EQ(jam.seconds, 3);
  EXPECT_DOUBLE_EQ(other.mean, Prior().mean);
  EXPECT_EQ(jam.trials, 0U);
}

TEST(Beliefs, TrialsCountAsMuchAsEachOfThePriors) {
  Beliefs beliefs({}, {.mean = 0, .deviation = 0.2, .valid = 1, .seconds = 1, .weight = 2});
  beliefs.add("unroll", 0.3, 5);
  beliefs.add("unroll", 0.3, 5);
  EXPECT_DOUBLE_EQ(beliefs.of("unroll").mean, 0.15);
  EXPECT_DOUBLE_EQ(beliefs.of("unroll").seconds, 3);
  EXPECT_DOUBLE_EQ(beliefs.of("jam").mean, 0) << "they say nothing of another technique";
  for (int i = 0; i < 1000; ++i)
    beliefs.add("unroll", 0.3, 5);
  EXPECT_NEAR(beliefs.of("unroll").mean, 0.3, 1e-3);
  EXPECT_LT(beliefs.of("unroll").deviation, 0.02) << "it is known by now";
}

TEST(Beliefs, WhatIsWrongTeachesValidityAlone) {
  Beliefs beliefs({}, {.mean = 0.1, .valid = 1, .weight = 2});
  beliefs.add("jam", std::nullopt, 1);
  beliefs.add("jam", std::nullopt, 1);
  EXPECT_DOUBLE_EQ(beliefs.of("jam").mean, 0.1);
  EXPECT_DOUBLE_EQ(beliefs.of("jam").valid, 0.5);
}

TEST(Beliefs, OneGreatGainIsNoRule) {
  Beliefs beliefs;
  beliefs.add("loop-split", std::log(1000.0), 1);
  EXPECT_LE(beliefs.of("loop-split").mean, 2);
}

TEST(Beliefs, PriorsShrinkToWhatIsKnownMoreWidely) {
  const auto many = [](int trials, double gain) {
    Outcomes sums;
    for (int i = 0; i < trials; ++i)
      sums.add(gain, 1);
    return sums;
  };
  const auto meanOf = [](const std::vector<TechniqueOutcomes> &known) {
    return priorsFrom(known, "memory", "sm_90").at("pad").mean;
  };
  EXPECT_TRUE(priorsFrom({}, "memory", "sm_90").empty());
  EXPECT_DOUBLE_EQ(meanOf({{"memory", "pad", "sm_90", many(2, 0.4)}}), 0.2) << "halfway from none";
  EXPECT_NEAR(meanOf({{"compute", "pad", "sm_90", many(1000, 0.4)}}), 0.4, 1e-3);
  const std::vector<TechniqueOutcomes> known = {{"compute", "pad", "sm_90", many(1000, 0.4)},
                                                {"memory", "pad", "sm_80", many(2, 0.2)},
                                                {"memory", "pad", "sm_90", many(2, 0.1)}};
  EXPECT_NEAR(meanOf(known), 0.2, 1e-3) << "0.4, then halfway to 0.2, then halfway to 0.1";
  Outcomes wrong;
  for (int i = 0; i < 100; ++i)
    wrong.add(std::nullopt, 1);
  const Prior prior = priorsFrom({{"memory", "pad", "sm_90", wrong}}, "memory", "sm_90").at("pad");
  EXPECT_LT(prior.valid, 0.05);
  EXPECT_DOUBLE_EQ(prior.mean, Prior().mean);
}

TEST(Beliefs, ExpectTheMeanOfWhatIsAbove) {
  EXPECT_DOUBLE_EQ(expectedExcess(0.3, 0, 0.1), 0.2);
  EXPECT_DOUBLE_EQ(expectedExcess(0.1, 0, 0.3), 0);
  EXPECT_NEAR(expectedExcess(0, 1, 0), 0.398942, 1e-6) << "1 / sqrt(2 pi)";
  EXPECT_NEAR(expectedExcess(5, 1, 0), 5, 1e-6);
  EXPECT_GT(expectedExcess(0, 0.4, 0.2), expectedExcess(0, 0.2, 0.2));
}

} // namespace
} // namespace kopt
