// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Decision.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

std::vector<Decision> oneOfEach() {
  std::vector<Decision> decisions;
  const auto add = [&](auto what) {
    Decision decision;
    decision.round = 4;
    decision.what = std::move(what);
    decision.evidence = {{"speedup low", "abc", 1.25}};
    decisions.push_back(std::move(decision));
  };
  add(Note{"baseline", "baseline measured: 3 us"});
  add(Ask{"llm", {"abc", "def"}, "tile", 3});
  add(Stop{StopReason::Patience, 4});
  add(Offered{"params", 6});
  add(ProposerFailure{"llm", "no route to host"});
  add(Accept{"abc", "TILE = 32", 1.3});
  add(Confirm{"abc", "TILE = 32", true, "1.3x"});
  add(Confirm{"abc", "TILE = 32", false, "1.0x"});
  add(Checked{"sizes", true, "eleven sizes"});
  add(Checked{"", false, "speed on a real GPU"});
  return decisions;
}

TEST(Decision, EveryKindSurvivesItsJson) {
  std::set<std::string> kinds;
  for (const Decision &decision : oneOfEach()) {
    const auto read = decisionFromJson(kindOf(decision), toJson(decision));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(kindOf(*read), std::string(kindOf(decision)));
    EXPECT_EQ(describe(*read), describe(decision));
    EXPECT_EQ(toJson(*read), toJson(decision));
    EXPECT_EQ(read->evidence.at(0).trial, "abc");
    kinds.insert(kindOf(decision));
  }
  EXPECT_EQ(kinds.size(), oneOfEach().size());
}

TEST(Decision, WhatIsNoRecordIsAnErrorThatNamesTheKind) {
  EXPECT_FALSE(decisionFromJson("stop", nlohmann::json::object()));
  EXPECT_FALSE(decisionFromJson("stop", nlohmann::json()));
  const auto unknown = decisionFromJson("guess", toJson(oneOfEach()[0]));
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().what.find("guess"), std::string::npos);
}

TEST(Decision, ItsIdentityIsItsContentAndNotItsWording) {
  Decision one, other;
  one.what = Checked{"sizes", true, "eleven sizes"};
  other.what = Checked{"sizes", true, "the same in 11 sizes"};
  EXPECT_EQ(identityOf(one), identityOf(other));
  other.what = Checked{"sizes", false, "eleven sizes"};
  EXPECT_NE(identityOf(one), identityOf(other));
  other.what = Checked{"scalars", true, "eleven sizes"};
  EXPECT_NE(identityOf(one), identityOf(other));
  other = one;
  other.round = 1;
  EXPECT_NE(identityOf(one), identityOf(other));
  one.what = Ask{"a", {"x"}, "", 3};
  other = one;
  std::get<Ask>(other.what).parents = {"y"};
  EXPECT_NE(identityOf(one), identityOf(other));
}

} // namespace
} // namespace kopt
