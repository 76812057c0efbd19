// SPDX-License-Identifier: Apache-2.0
// What each gate of knowledge/policy.json fires on, and what it does not.
#include "driver/search/policy/PolicyBook.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::HasSubstr;

class PolicyBookTest : public testing::Test {
protected:
  /// The id of the gate that fires where these signals differ from those of an ordinary moment.
  std::string gateWhere(const Counters &other) {
    Counters signals = {{"gained", 2},    {"stale", 1},         {"untried", 0}, {"left", 5},
                        {"new_state", 0}, {"log_speedup", 0.2}, {"target", 0}};
    for (const auto &[name, value] : other)
      signals.at(name) = value;
    const PolicyGate *gate = firstOf(book.gates(), signals);
    return gate ? gate->id : "";
  }
  PolicyBook book = must(PolicyBook::load());
};

TEST_F(PolicyBookTest, NoGateFiresAtAnOrdinaryMoment) { EXPECT_EQ(gateWhere({}), ""); }

TEST_F(PolicyBookTest, BreadthWhileNothingGained) {
  EXPECT_EQ(gateWhere({{"gained", 0}, {"untried", 3}}), "breadth");
  EXPECT_EQ(gateWhere({{"gained", 1}, {"untried", 3}}), "");
  EXPECT_EQ(gateWhere({{"gained", 0}, {"untried", 0}}), "");
}

TEST_F(PolicyBookTest, NumbersOnlyNearTheTarget) {
  EXPECT_EQ(gateWhere({{"target", 0.205}}), "near-target");
  EXPECT_EQ(gateWhere({{"target", 0.4}}), "");
  EXPECT_EQ(gateWhere({{"target", 0.205}, {"left", 0}}), "");
}

TEST_F(PolicyBookTest, TheRulesOfANewState) {
  EXPECT_EQ(gateWhere({{"new_state", 1}}), "new-bottleneck");
  EXPECT_EQ(gateWhere({{"new_state", 1}, {"stale", 7}}), "");
}

TEST_F(PolicyBookTest, OtherParentsOnAPlateau) {
  EXPECT_EQ(gateWhere({{"stale", 12}}), "plateau");
  EXPECT_EQ(gateWhere({{"stale", 11}}), "");
}

TEST_F(PolicyBookTest, WhatAGateSetsIsASettingOfThePreset) {
  const PolicySettings *navigator = book.find("navigator");
  ASSERT_TRUE(navigator);
  EXPECT_TRUE(navigator->gates);
  for (const PolicyGate &gate : book.gates()) {
    const PolicySettings with = must(changed(*navigator, gate.set));
    EXPECT_NE(inWords(with), inWords(*navigator)) << gate.id;
  }
  const auto unknown = changed(*navigator, {{"widht", 2}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().what, HasSubstr("widht"));
}

TEST_F(PolicyBookTest, PresetsAreFoundByName) {
  for (const char *name : {"auto", "navigator", "beam", "memory"})
    EXPECT_TRUE(book.find(name)) << name;
  EXPECT_FALSE(book.find("greedy"));
}

} // namespace
} // namespace kopt
