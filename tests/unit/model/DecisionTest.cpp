// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Decision.h"

#include "driver/model/Json.h"

#include <gtest/gtest.h>

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
    const auto read = fromJson<Decision>(toJson(decision));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(kindOf(*read), std::string(kindOf(decision)));
    EXPECT_EQ(describe(*read), describe(decision));
    EXPECT_EQ(toJson(*read), toJson(decision));
    EXPECT_EQ(read->evidence.at(0).trial, "abc");
    kinds.insert(kindOf(decision));
  }
  EXPECT_EQ(kinds.size(), oneOfEach().size());
}

TEST(Decision, WhatIsNoRecordIsAnErrorThatNamesThePlace) {
  nlohmann::json document = toJson(oneOfEach()[2]);
  EXPECT_EQ(document.at("what"),
            (nlohmann::json{{"stop", {{"reason", "patience"}, {"limit", 4}}}}));
  const auto problem = [&] { return fromJson<Decision>(document).error().what; };
  document["what"]["stop"].erase("limit");
  EXPECT_EQ(problem(), "malformed record: missing 'limit' at /what/stop");
  document["what"] = {{"guess", nlohmann::json::object()}};
  EXPECT_EQ(problem(), "malformed record: unknown kind 'guess' at /what");
  document["what"] = nlohmann::json::object();
  EXPECT_EQ(problem(), "malformed record: expected one member, named as a kind at /what");
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
