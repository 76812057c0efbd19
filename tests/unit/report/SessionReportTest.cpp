// SPDX-License-Identifier: Apache-2.0
#include "driver/report/SessionReport.h"

#include "driver/support/FileSystem.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using testing::HasSubstr;
using testing::Not;

SessionRecord sample() {
  SessionRecord session;
  session.name = "session-2";
  session.finishedUtc = "2026-01-31T12:00:00Z";
  session.confirmation.done = true;
  session.confirmation.program = "./app 10";
  session.confirmation.pairs = 5;
  session.confirmation.output = "the same in 3 lines";
  SessionWin held;
  held.run = 1;
  held.runName = "rows-1";
  held.kernel = "rows";
  held.place = "a.cu:3";
  held.title = "blocks of 1x256";
  held.isolated = {1.5, 1.48, 1.52};
  held.state = WinState::Confirmed;
  held.program.emplace();
  held.program->speedup = {1.48, 1.45, 1.5};
  held.program->proof = "its machine code was 11 and is 22";
  SessionWin lost = held;
  lost.run = 2;
  lost.runName = "scaled-1";
  lost.kernel = "scaled<2>";
  lost.state = WinState::Dropped;
  lost.reason = "not faster in the program: 1.000x there, 1.050x in isolation";
  session.wins = {held, lost};
  session.confirmed = {{"a.cu", "1", "2", {{{"a.cu", 0, 1}, "x"}}}};
  session.confirmedPatch = "the mail";
  return session;
}

TEST(SessionReport, ShowsIsolatedAndProgramSideBySide) {
  const std::string text = renderSession(sample());
  EXPECT_THAT(text, HasSubstr("**1 of 2 wins holds in the program**"));
  EXPECT_THAT(text,
              HasSubstr("| rows (a.cu:3) | confirmed | 1.500x [1.480, 1.520] | 1.480x [1.450, "
                        "1.500] |"));
  EXPECT_THAT(text,
              HasSubstr("## Not part of the patch\n\n- scaled<2> (a.cu:3), blocks of 1x256: not "
                        "faster in the program"));
  EXPECT_THAT(text, HasSubstr("that the patched rows is the one that ran: its machine code"));
  EXPECT_THAT(text, HasSubstr("kopt apply --run-id session-2\n"));
  EXPECT_EQ(text, renderSession(sample()));
}

TEST(SessionReport, ListsTheRunsOfTheProgramWithTheirSpeedups) {
  SessionRecord session = sample();
  EXPECT_THAT(renderSession(session), Not(HasSubstr("rows by")));
  ProgramTime there;
  there.speedup = {1.4, 1.3, 1.5};
  session.wins[0].runs = {{"./app 10", Speedup{1.6, 1.5, 1.7}, there},
                          {"./app 20", Speedup{1.2, 1.1, 1.3}, {}},
                          {"./app 30", {}, there}};
  const std::string text = renderSession(session);
  EXPECT_THAT(text,
              HasSubstr("- rows by './app 10': 1.600x [1.500, 1.700] at 95% from 0 pairs in "
                        "isolation, 1.400x [1.300, 1.500] at 95% from 0 pairs in the program"));
  EXPECT_THAT(text, HasSubstr("- rows by './app 20': 1.200x [1.100, 1.300] at 95% from 0 pairs in "
                              "isolation, not measured in the program"));
  EXPECT_THAT(text, HasSubstr("- rows by './app 30': not measured in isolation, 1.400x"));
  const auto json = nlohmann::json::parse(renderSessionJson(session));
  EXPECT_EQ(json["wins"][0]["runs"][1]["command"], "./app 20");
}

TEST(SessionReport, NamesTheFlagThatAWinNeeds) {
  SessionRecord session = sample();
  session.wins.pop_back();
  session.wins[0].state = WinState::Unconfirmed;
  session.wins[0].reason = "not confirmed in the program: no --run";
  session.offered.swap(session.confirmed);
  EXPECT_EQ(patchName(session), "unconfirmed.patch");
  EXPECT_THAT(renderSession(session), HasSubstr("`kopt apply --run-id session-2 --unconfirmed`"));
  session.wins[0].state = WinState::Modelled;
  EXPECT_EQ(patchName(session), "modelled.patch");
  EXPECT_THAT(renderSession(session), HasSubstr("1 of 1 win is modelled, none was measured"));
  EXPECT_THAT(renderSession(session), Not(HasSubstr("In the program\n")));
}

TEST(SessionReport, TheFolderHasThePatchThatIsApplied) {
  const auto folder = TemporaryDirectory::create("kopt-session");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(writeFileAtomically(folder->path() / "modelled.patch", "an earlier one"));
  ASSERT_TRUE(writeSessionFolder(sample(), folder->path()));
  EXPECT_EQ(readFile(folder->path() / "confirmed.patch").value(), "the mail");
  EXPECT_FALSE(std::filesystem::exists(folder->path() / "modelled.patch"));
  const auto json = nlohmann::json::parse(readFile(folder->path() / "session.json").value());
  EXPECT_EQ(json["wins"][0]["state"], "confirmed");
  EXPECT_EQ(json["patch"], "confirmed.patch");
}

} // namespace
} // namespace kopt
