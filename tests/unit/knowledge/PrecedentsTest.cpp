// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Precedents.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kopt {
namespace {

Remembered row(const std::string &candidate, const std::string &parent, std::optional<double> gain,
               const std::string &arch = "sm_90") {
  Remembered made;
  Experience &one = made.experience;
  one.technique = "unroll";
  one.candidate = candidate;
  one.parent = parent;
  one.arch = arch;
  one.variant = "unroll 4";
  if (gain)
    one.overBaseline = LogGain{*gain, *gain, *gain, 40};
  return made;
}

TEST(Precedents, AStepPaysForWhatWasMadeFromIt) {
  const auto tried =
      triedIn({row("first", "", 0), row("second", "first", 0.3), row("third", "second", 0.302),
               row("slow", "", -0.2), row("wrong", "first", std::nullopt)},
              "sm_90", "base");
  EXPECT_EQ(tried.at("first").parent, "base");
  EXPECT_DOUBLE_EQ(tried.at("first").reach, 0.3 - kLogGainOfStep);
  EXPECT_GT(tried.at("first").pays, 0) << "it gained nothing, but what was made from it did";
  EXPECT_DOUBLE_EQ(tried.at("second").pays, 0.3);
  EXPECT_LT(tried.at("third").pays, 0) << "less than a step is worth";
  EXPECT_LT(tried.at("slow").pays, 0);
  EXPECT_LT(tried.at("wrong").pays, 0);
}

TEST(Precedents, OfOtherArchitecturesWhatWasRightIsKnown) {
  const auto tried =
      triedIn({row("a", "", 0.5, "sm_80"), row("a", "", 0.1), row("a", "", 0.6, "sm_80"),
               row("b", "", 0.2, "sm_80"), row("c", "", std::nullopt, "sm_80")},
              "sm_90", "base");
  EXPECT_DOUBLE_EQ(tried.at("a").gain, 0.1) << "this one's come first";
  EXPECT_DOUBLE_EQ(tried.at("b").gain, 0.2);
  EXPECT_FALSE(tried.contains("c"));
}

TEST(Precedents, RowsMayMakeACircle) {
  const auto tried = triedIn({row("a", "b", 0.1), row("b", "a", 0.2)}, "sm_90", "base");
  EXPECT_DOUBLE_EQ(tried.at("a").reach, 0.2 - kLogGainOfStep);
}

TEST(Precedents, WhatModelsWroteIsNotOfferedAgain) {
  Remembered written = row("a", "", 0.5);
  written.experience.variant.reset();
  EXPECT_TRUE(triedIn({written}, "sm_90", "base").empty());
}

TEST(Precedents, TheSameTextTellsMoreThanItsKind) {
  Candidate same, two, four, eight;
  same.constants["N"] = 1;
  for (const auto &[candidate, title] : {std::pair(&same, "unroll by 4, line 7: for (...)"),
                                         {&two, "base + unroll by 2: for (...)"},
                                         {&four, "base + unroll by 4, line 9: for (...)"},
                                         {&eight, "base + unroll by 8: for (...)"}}) {
    candidate->technique = "unroll";
    candidate->title = title;
  }
  Precedents known;
  known.ofText[same.contentHash()].pays = -1;
  known.ofAKind[{"unroll", "unroll 4"}].add(0.3, 1);
  known.ofAKind[{"unroll", "unroll 8"}].add(0, 1);
  EXPECT_DOUBLE_EQ(known.rank(same), -1);
  EXPECT_GT(known.rank(four, "base"), 0) << "on whatever line";
  EXPECT_DOUBLE_EQ(known.rank(two, "base"), 0) << "nothing is known";
  EXPECT_LT(known.rank(eight, "base"), 0);
}

} // namespace
} // namespace kopt
