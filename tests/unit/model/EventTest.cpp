// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Event.h"

#include "driver/model/Json.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

std::vector<Event> oneOfEach() {
  std::vector<Event> events;
  const auto add = [&](auto what) {
    Event event;
    event.round = 4;
    event.what = std::move(what);
    event.evidence = {{"speedup low", "abc", 1.25}};
    events.push_back(std::move(event));
  };
  add(Note{"baseline", "baseline measured: 3 us"});
  add(Ask{1, "llm", {"abc", "def"}, "tile", 3});
  add(Stop{StopReason::Patience, 4});
  add(Offered{1, "params", std::vector<Candidate>(6), {"six"}, "abc"});
  add(ProposerFailure{1, "llm", "no route to host"});
  add(Judged{1, "abc"});
  add(Profiled{"abc"});
  add(Accept{"abc", "TILE = 32", 1.3, 1.25});
  add(TimedInProgram{{{"abc", "TILE = 32", 1.1}, {"def", "TILE = 64", {}}}});
  add(Confirm{"abc", "TILE = 32", true, "1.3x"});
  add(Confirm{"abc", "TILE = 32", false, "1.0x"});
  add(Checked{CheckId::Sizes, true, "eleven sizes"});
  add(Checked{CheckId::None, false, "speed on a real GPU"});
  return events;
}

TEST(Event, EveryKindSurvivesItsJson) {
  std::set<std::string> kinds;
  for (const Event &event : oneOfEach()) {
    const auto read = fromJson<Event>(toJson(event));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(kindOf(*read), std::string(kindOf(event)));
    EXPECT_EQ(describe(*read), describe(event));
    EXPECT_EQ(toJson(*read), toJson(event));
    EXPECT_EQ(read->evidence.at(0).trial, "abc");
    kinds.insert(kindOf(event));
  }
  EXPECT_EQ(kinds.size(), oneOfEach().size());
}

TEST(Event, WhatIsNoRecordIsAnErrorThatNamesThePlace) {
  nlohmann::json document = toJson(oneOfEach()[2]);
  EXPECT_EQ(document.at("what"),
            (nlohmann::json{{"stop", {{"reason", "patience"}, {"limit", 4}}}}));
  const auto problem = [&] { return fromJson<Event>(document).error().what; };
  document["what"]["stop"].erase("limit");
  EXPECT_EQ(problem(), "malformed record: missing 'limit' at /what/stop");
  document["what"] = {{"guess", nlohmann::json::object()}};
  EXPECT_EQ(problem(), "malformed record: unknown kind 'guess' at /what");
  document["what"] = nlohmann::json::object();
  EXPECT_EQ(problem(), "malformed record: expected one member, named as a kind at /what");
}

TEST(Event, ItsIdentityIsItsContentAndNotItsWording) {
  Event one, other;
  one.what = Checked{CheckId::Sizes, true, "eleven sizes"};
  other.what = Checked{CheckId::Sizes, true, "the same in 11 sizes"};
  EXPECT_EQ(identityOf(one), identityOf(other));
  other.what = Checked{CheckId::Sizes, false, "eleven sizes"};
  EXPECT_NE(identityOf(one), identityOf(other));
  other.what = Checked{CheckId::Scalars, true, "eleven sizes"};
  EXPECT_NE(identityOf(one), identityOf(other));
  other = one;
  other.round = 1;
  EXPECT_NE(identityOf(one), identityOf(other));
  one.what = Ask{1, "a", {"x"}, "", 3};
  other = one;
  std::get<Ask>(other.what).parents = {"y"};
  EXPECT_NE(identityOf(one), identityOf(other));
}

} // namespace
} // namespace kopt
