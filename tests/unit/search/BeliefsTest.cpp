// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Beliefs.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(Beliefs, BeginWithThePrior) {
  const Beliefs beliefs({{"jam", {.chance = 0.5}}});
  EXPECT_DOUBLE_EQ(beliefs.of("jam").chance, 0.5);
  EXPECT_DOUBLE_EQ(beliefs.of("unroll").chance, Prior().chance);
  EXPECT_EQ(beliefs.of("jam").trials, 0U);
  EXPECT_DOUBLE_EQ(beliefs.of("jam", true, 2).chance, 2.0 / 3) << "odds of 1 to 1 become 2 to 1";
}

TEST(Beliefs, TrialsOfTheRunCountBesideThePrior) {
  Beliefs beliefs({{"unroll", {.chance = 0.5, .weight = 2}}});
  beliefs.add("unroll", 0.3);
  beliefs.add("unroll", 0.01); // less than counts
  EXPECT_DOUBLE_EQ(beliefs.of("unroll").chance, 0.5);
  EXPECT_EQ(beliefs.of("unroll").trials, 2U);
  EXPECT_DOUBLE_EQ(beliefs.of("jam").chance, Prior().chance) << "they say nothing of another";
  const double before = beliefs.of("unroll").deviation;
  for (int i = 0; i < 1000; ++i)
    beliefs.add("unroll", 0.3);
  EXPECT_GT(beliefs.of("unroll").chance, 0.99);
  EXPECT_NEAR(beliefs.of("unroll").size, 0.3, 1e-3);
  EXPECT_LT(beliefs.of("unroll").deviation, before / 10) << "it is known by now";
}

TEST(Beliefs, WhatIsWrongGainsNothing) {
  Beliefs beliefs({{"jam", {.chance = 0.5, .weight = 2}}});
  beliefs.add("jam", std::nullopt);
  beliefs.add("jam", std::nullopt);
  EXPECT_DOUBLE_EQ(beliefs.of("jam").chance, 0.25);
}

TEST(Beliefs, WhereARuleRecommendsItIsAnotherMatter) {
  Beliefs beliefs({{"pad", {.chance = 0.5, .weight = 1}}});
  beliefs.add("pad", 0, false);
  EXPECT_DOUBLE_EQ(beliefs.of("pad", false).chance, 0.25);
  EXPECT_DOUBLE_EQ(beliefs.of("pad", true).chance, 0.5);
}

TEST(Beliefs, WhatIsComingCountsAsWithoutGain) {
  Beliefs beliefs({{"jam", {.chance = 0.5, .weight = 1}}});
  EXPECT_DOUBLE_EQ(beliefs.of("jam", false, 1, 1).chance, 0.25);
  EXPECT_EQ(beliefs.of("jam", false, 1, 1).trials, 0U);
}

TEST(Beliefs, OneGreatGainIsNoRule) {
  Beliefs beliefs;
  beliefs.add("loop-split", std::log(1000.0));
  EXPECT_LE(beliefs.of("loop-split").size, kMostLogGain);
}

TEST(Beliefs, PriorsShrinkToWhatIsKnownMoreWidely) {
  const auto many = [](int trials, double gain) {
    Outcomes sums;
    for (int i = 0; i < trials; ++i)
      sums.add(gain, 1);
    return sums;
  };
  const auto chanceOf = [](const std::vector<TechniqueOutcomes> &known) {
    return priorsFrom(known, "memory", "sm_90").at("pad").chance;
  };
  EXPECT_TRUE(priorsFrom({}, "memory", "sm_90").empty());
  EXPECT_DOUBLE_EQ(chanceOf({{"memory", "pad", "sm_90", many(8, 0.4)}}), (Prior().chance + 1) / 2)
      << "halfway from what is expected of any";
  EXPECT_NEAR(chanceOf({{"compute", "pad", "sm_90", many(10000, 0.4)}}), 1, 1e-2);
  EXPECT_NEAR(chanceOf({{"compute", "pad", "sm_90", many(10000, 0.4)},
                        {"memory", "pad", "sm_80", many(8, 0)},
                        {"memory", "pad", "sm_90", many(8, 0)}}),
              0.25, 1e-2)
      << "1, then halfway to 0 in this state, then again on this architecture";
  EXPECT_NEAR(priorsFrom({{"compute", "pad", "sm_90", many(10000, 0.4)}}, "memory", "sm_90",
                         {{{"pad", "pad 1"}, many(5000, 0)}, {{"pad", "pad 2"}, many(5000, 0)}})
                  .at("pad")
                  .chance,
              0, 1e-2)
      << "kernels of the same kind tell most";
  const auto seeded = priorsFrom({{"memory", "pad", "sm_90", many(1000, 0.8)}}, "memory", "sm_90");
  EXPECT_NEAR(priorsFrom({{"memory", "pad", "sm_90", many(8, 0)}}, "memory", "sm_90", {}, seeded)
                  .at("pad")
                  .chance,
              0.5, 1e-2)
      << "what it begins with counts as so many trials";
  Outcomes wrong;
  for (int i = 0; i < 1000; ++i)
    wrong.add(std::nullopt, 1);
  EXPECT_LT(chanceOf({{"memory", "pad", "sm_90", wrong}}), 0.01);
}

// The mean of what an exponential distribution has above a bound.
TEST(Expectation, ExcessFallsWithWhatIsToBeExceeded) {
  const Expectation expected{.chance = 0.5, .deviation = 0.1, .size = 0.2};
  EXPECT_DOUBLE_EQ(expected.excess(0, 0), 0.1);
  EXPECT_DOUBLE_EQ(expected.excess(-1, 0), 0.1) << "a parent is never above the best";
  EXPECT_DOUBLE_EQ(expected.excess(0.2, 0), 0.1 / std::exp(1));
  EXPECT_DOUBLE_EQ(expected.excess(0, 1), 0.12);
}

} // namespace
} // namespace kopt
