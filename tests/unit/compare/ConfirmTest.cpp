// SPDX-License-Identifier: Apache-2.0
// Programs that are told what they print and how long their kernels take.
#include "driver/compare/program/Confirm.h"
#include "driver/compare/program/ScreenInProgram.h"

#include "fakes/FakeClock.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::HasSubstr;

/// Kernels "a", "b", "c", each 1 s in the old program; wins edit the file of their name.
class FakePrograms final : public ProgramPair {
public:
  struct Effect {
    double factor = 1; ///< of the kernel's time
    std::string out, failure, buildError;
    bool changesCode = true;
    std::set<std::string> geometries{};       ///< of the patched program; empty: as before
    std::map<std::string, double> factorBy{}; ///< by command, in place of `factor`
    double ofLast = 1; ///< of the time of the last launch, and not of the kernel's
  };
  explicit FakePrograms(fakes::FakeClock &clock) : clock_(clock) {}

  std::string describe() const override { return "fake copies"; }
  Status buildOld(const ProgramEdits &) override {
    return oldBuildError.empty() ? Status()
                                 : makeError(ErrorCode::BaselineFailed, oldBuildError, "its log");
  }
  std::vector<Status> buildNew(const std::vector<ProgramEdits> &edits) override {
    each_ = edits;
    std::vector<Status> results;
    for (const ProgramEdits &one : edits) {
      std::vector<std::string> &files = built.emplace_back();
      std::string error;
      for (const FileEdits &file : one) {
        files.push_back(file.path);
        if (error.empty())
          error = effects[file.path].buildError;
      }
      results.push_back(error.empty() ? Status() : makeError(ErrorCode::BaselineFailed, error));
    }
    return results;
  }
  Built buildBoth(const ProgramEdits &edits) override {
    Built both{buildOld(edits), {}};
    if (both.old)
      both.fresh = buildNew({edits}).front();
    return both;
  }
  Result<std::vector<ProgramSample>> run(Side side, std::size_t index) override {
    std::vector<ProgramSample> samples;
    for (const std::string &command : commands)
      samples.push_back(runBy(command, side, index));
    return samples;
  }
  ProgramSample runBy(const std::string &command, Side side, std::size_t index) {
    std::vector<std::string> edited;
    for (const FileEdits &file : side == Side::New ? each_.at(index) : ProgramEdits())
      edited.push_back(file.path);
    clock_.advance(runSeconds);
    ++runs;
    ProgramSample sample;
    sample.command = command;
    sample.seconds = runSeconds;
    sample.out = "sum 4\n";
    sample.failure = side == Side::Old ? oldFailure : "";
    for (const char *name : {"a", "b", "c"}) {
      KernelSample kernel{name, {std::string("code-") + name}, {"grid 8 block 128"}, 2, 1};
      kernel.seconds = 1 + 0.001 * (runs % 3);
      kernel.launchSeconds.assign(launches, kernel.seconds / double(launches));
      const bool patched = std::ranges::find(edited, name) != edited.end();
      if (side == Side::New && patched) {
        const Effect &effect = effects[name];
        const auto own = effect.factorBy.find(command);
        const double factor = own == effect.factorBy.end() ? effect.factor : own->second;
        kernel.seconds *= factor;
        for (double &seconds : kernel.launchSeconds)
          seconds *= factor;
        kernel.launchSeconds.back() *= effect.ofLast;
        if (!effect.geometries.empty())
          kernel.geometries = effect.geometries;
        if (effect.changesCode)
          kernel.code = {std::string("new-") + name};
        sample.out += effect.out;
        sample.failure += effect.failure;
        if (name == sharedBy) // the last kernel shares its template
          slow_ = effect.factor > 1 ? 1 : 1.5;
      }
      if (side == Side::New && name == std::string("c") && slow_ > 0 && !sharedBy.empty()) {
        kernel.seconds *= slow_;
        kernel.code = {"new-c"};
      }
      sample.kernels.push_back(kernel);
    }
    slow_ = 0;
    return sample;
  }
  Result<std::optional<std::string>> test(Side side) override {
    return side == Side::New ? tests : std::optional<std::string>("");
  }

  std::map<std::string, Effect> effects;
  std::string oldBuildError, oldFailure, sharedBy;
  std::vector<std::string> commands = {""};
  std::optional<std::string> tests;
  double runSeconds = 1;
  std::size_t launches = 2; ///< of each kernel, in a run
  std::vector<std::vector<std::string>> built;
  int runs = 0;

private:
  fakes::FakeClock &clock_;
  std::vector<ProgramEdits> each_;
  double slow_ = 0;
};

class ConfirmTest : public testing::Test {
protected:
  /// Wins of the kernels "a", "b", …
  Status confirm(std::size_t count, LaunchSeconds launch = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      SessionWin &win = session_.wins.emplace_back();
      win.run = std::int64_t(i) + 1;
      win.kernel = win.symbol = std::string(1, char('a' + i));
      win.isolated = {1.3, 1.28, 1.32};
      win.launch = launch;
    }
    return confirmInProgram(
        count,
        [this](const std::vector<std::size_t> &chosen) -> Result<ProgramEdits> {
          ProgramEdits edits;
          for (const std::size_t win : chosen)
            edits.push_back({session_.wins[win].symbol, "", "", {}});
          return edits;
        },
        programs_, clock_, policy_, [](const std::string &) {}, session_);
  }
  std::vector<WinState> states() const {
    std::vector<WinState> all;
    for (const SessionWin &win : session_.wins)
      all.push_back(win.state);
    return all;
  }

  fakes::FakeClock clock_;
  FakePrograms programs_{clock_};
  ConfirmPolicy policy_;
  SessionRecord session_;
};

using States = std::vector<WinState>;

TEST_F(ConfirmTest, AWinThatHoldsHasItsTimesAndItsProof) {
  programs_.effects["a"].factor = 0.8;
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Confirmed});
  const ProgramTime &time = *session_.wins[0].program;
  EXPECT_NEAR(time.speedup.estimate, 1.25, 0.01);
  EXPECT_GT(time.speedup.low, 1.2);
  EXPECT_EQ(time.newLaunches, 2u);
  EXPECT_EQ(time.proof, "its machine code was code-a and is new-a");
  EXPECT_TRUE(session_.confirmation.done);
  EXPECT_EQ(session_.confirmation.pairs, 5u) << "ten seconds";
  EXPECT_EQ(session_.confirmation.output, "the same in 1 lines");
}

TEST_F(ConfirmTest, OtherGeometriesAreAProofAndAFewOfThemAreNamed) {
  auto &effect = programs_.effects["a"];
  effect.factor = 0.8;
  effect.changesCode = false;
  for (int i = 1; i < 6; ++i)
    effect.geometries.insert("grid " + std::to_string(i) + " block 256");
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(session_.wins[0].program->proof,
            "its launches were grid 8 block 128 and are grid 1 block 256, grid 2 block 256, grid 3 "
            "block 256 and 2 others");
}

TEST_F(ConfirmTest, ASpeedupFarFromTheIsolatedOneIsExplained) {
  programs_.effects["a"].factor = 1 / 1.3;
  ASSERT_TRUE(confirm(1));
  EXPECT_THAT(session_.wins[0].reason, testing::EndsWith("in the program"));
  programs_.effects["a"].factor = 0.5;
  ASSERT_TRUE(confirm(1));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("in the program; 1.300x in isolation, on the "));
}

TEST_F(ConfirmTest, TheTimeFromOneLaunchToTheNextExplainsASmallerSpeedupInIsolation) {
  programs_.effects["a"].factor = 0.5; // two launches of 0.5 s, and then of 0.25 s
  ASSERT_TRUE(confirm(1, {1.08, 0.83}));
  EXPECT_THAT(session_.wins[0].reason,
              HasSubstr("1.300x in isolation, where a launch took 1.08 s and takes 830 ms, not 500 "
                        "ms and 250 ms: about 580 ms longer, before and after"));
}

TEST_F(ConfirmTest, OtherDifferencesFromIsolationAreNotPutDownToTheTimeBetweenLaunches) {
  programs_.effects["a"].factor = 0.5;
  ASSERT_TRUE(confirm(1, {0.65, 0.5}));
  EXPECT_THAT(session_.wins[0].reason,
              HasSubstr("where a launch took 650 ms and takes 500 ms, not"));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("without the program's other work"));
}

TEST_F(ConfirmTest, WhatIsNotFasterThereLeavesAndTheRestIsConfirmedAgain) {
  programs_.effects["a"].factor = 0.8;
  programs_.effects["b"].factor = 1.0;
  ASSERT_TRUE(confirm(2));
  EXPECT_EQ(states(), (States{WinState::Confirmed, WinState::Dropped}));
  EXPECT_THAT(session_.wins[1].reason, HasSubstr("not faster in the program: 1.00"));
  EXPECT_THAT(session_.wins[1].reason, HasSubstr("1.300x"));
  EXPECT_EQ(session_.confirmation.rounds, 2u);
  EXPECT_EQ(programs_.built.back(), std::vector<std::string>{"a"});
}

TEST_F(ConfirmTest, OfSeveralCommandsEachHasItsGain) {
  programs_.commands = {"./app 1", "./app 2"};
  programs_.effects["a"].factorBy = {{"./app 1", 0.5}, {"./app 2", 1}};
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Confirmed}) << "it is no slower by either";
  const SessionWin &win = session_.wins[0];
  EXPECT_NEAR(win.program->speedup.estimate, 2 / 1.5, 0.01);
  ASSERT_EQ(win.runs.size(), 2u);
  EXPECT_EQ(win.runs[0].command, "./app 1");
  EXPECT_NEAR(win.runs[0].program->speedup.estimate, 2, 0.01);
  EXPECT_NEAR(win.runs[1].program->speedup.estimate, 1, 0.01);
  EXPECT_EQ(session_.confirmation.output,
            "by './app 1': the same in 1 lines; by './app 2': the same in 1 lines");
}

TEST_F(ConfirmTest, AWinThatIsSlowerByOneOfSeveralCommandsIsNone) {
  programs_.commands = {"./app 1", "./app 2"};
  programs_.effects["a"].factorBy = {{"./app 1", 0.5}, {"./app 2", 1.1}};
  programs_.effects["b"].factor = 0.8;
  ASSERT_TRUE(confirm(2));
  EXPECT_EQ(states(), (States{WinState::Dropped, WinState::Confirmed}));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("slower in the program by './app 2': 0.9"));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("in all runs together"));
  policy_.regressionGuard = 0.15;
  session_ = {};
  ASSERT_TRUE(confirm(2));
  EXPECT_EQ(states(), (States{WinState::Confirmed, WinState::Confirmed})) << "the user allows it";
}

TEST_F(ConfirmTest, ACommandThatThePatchBreaksIsNamed) {
  programs_.commands = {"./app 1", "./app 2"};
  programs_.effects["a"].factor = 0.8;
  programs_.effects["a"].failure = "it ended with exit code 139";
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Dropped});
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("failed: by './app 1': it ended with"));
  programs_.effects["a"].failure = "";
  programs_.effects["a"].out = "oops\n";
  session_ = {};
  ASSERT_TRUE(confirm(1));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("by './app 1': the patched program prints"));
}

TEST_F(ConfirmTest, TheObjectiveIsThatOfTheProgramsLaunches) {
  programs_.launches = 40;
  programs_.effects["a"].factor = 0.8; // all launches together, but the slowest
  programs_.effects["a"].ofLast = 1.5;
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Confirmed});
  policy_.objective = Objective::Worst;
  session_ = {};
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Dropped});
  EXPECT_NEAR(session_.wins[0].program->speedup.estimate, 1 / 1.2, 0.01);
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("not faster in the program: 0.833x for the slo"));
  policy_.objective = Objective::P95; // one of forty is beyond it
  session_ = {};
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Confirmed});
  EXPECT_NEAR(session_.wins[0].program->speedup.estimate, 1.25, 0.01);
}

TEST_F(ConfirmTest, TheWinThatBreaksTheOutputIsFound) {
  programs_.effects["a"].factor = programs_.effects["b"].factor = 0.8;
  programs_.effects["a"].out = "oops\n";
  ASSERT_TRUE(confirm(2));
  EXPECT_EQ(states(), (States{WinState::Dropped, WinState::Confirmed}));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("prints"));
}

TEST_F(ConfirmTest, ABuildThatFailsOrACrashDropsItsWin) {
  programs_.effects["a"].factor = programs_.effects["b"].factor = 0.8;
  programs_.effects["c"].factor = 0.8;
  programs_.effects["a"].buildError = "nvcc: redefinition";
  programs_.effects["b"].failure = "it ended with exit code 139";
  ASSERT_TRUE(confirm(3));
  EXPECT_EQ(states(), (States{WinState::Dropped, WinState::Dropped, WinState::Confirmed}));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("redefinition"));
  EXPECT_THAT(session_.wins[1].reason, HasSubstr("139"));
}

TEST_F(ConfirmTest, ABuildThatDoesNotBuildThePatchedFilesProvesNothing) {
  programs_.effects["a"] = {0.8, "", "", "", false};
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Unconfirmed});
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("the same machine code"));
}

TEST_F(ConfirmTest, AProgramThatFailsAsItIsConfirmsNothing) {
  programs_.oldFailure = "it ended with exit code 1";
  ASSERT_TRUE(confirm(2));
  EXPECT_EQ(states(), (States{WinState::Unconfirmed, WinState::Unconfirmed}));
  EXPECT_THAT(session_.confirmation.reason, HasSubstr("as it is failed"));
  programs_.oldBuildError = "'make' failed with exit code 2";
  session_ = {};
  ASSERT_TRUE(confirm(1));
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("not confirmed in the program: the program as it "
                                                 "is could not be built: 'make' failed with exit "
                                                 "code 2; its log"));
}

TEST_F(ConfirmTest, LongProgramsRunAsOftenAsThereIsTime) {
  programs_.effects["a"].factor = 0.8;
  programs_.runSeconds = 10;
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(session_.confirmation.pairs, 3u);
  EXPECT_EQ(states(), States{WinState::Confirmed});
  programs_.runSeconds = 50;
  session_ = {};
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(session_.confirmation.pairs, 1u);
  // Two launches are too few to be sure of anything.
  EXPECT_EQ(states(), States{WinState::Unconfirmed});
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("too few"));
}

TEST_F(ConfirmTest, TwoPairsOfLongRunsAreEnoughWhereManyLaunchesAgree) {
  programs_.effects["a"].factor = 0.8;
  programs_.runSeconds = 10;
  programs_.launches = 16;
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Confirmed});
  EXPECT_EQ(session_.confirmation.pairs, 2u);
  EXPECT_NEAR(session_.wins[0].program->speedup.estimate, 1.25, 0.01);
  EXPECT_GT(session_.wins[0].program->speedup.low, 1.2);
}

TEST_F(ConfirmTest, AThirdPairDecidesWhereTwoLongOnesDisagree) {
  programs_.effects["a"].factor = 1 / 1.01; // as large as the least gain; the runs differ by 0.1 %
  programs_.runSeconds = 10;
  programs_.launches = 16;
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(session_.confirmation.pairs, 3u);
}

TEST_F(ConfirmTest, AnotherKernelThatBecomesSlowerCostsTheWin) {
  programs_.effects["a"].factor = 0.8;
  programs_.sharedBy = "a";
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Dropped});
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("makes another kernel, c, slower"));
}

TEST_F(ConfirmTest, FailingTestsOfThePatchedProgramDropTheWin) {
  programs_.effects["a"].factor = 0.8;
  programs_.tests = "";
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(session_.confirmation.tests, "passed by the patched program");
  EXPECT_EQ(states(), States{WinState::Confirmed});
  programs_.tests = "1 test failed out of 2";
  session_ = {};
  ASSERT_TRUE(confirm(1));
  EXPECT_EQ(states(), States{WinState::Dropped});
  EXPECT_THAT(session_.wins[0].reason, HasSubstr("1 test failed"));
}

class ScreenTest : public testing::Test {
protected:
  static ProgramEdits editsOf(const std::string &file) { return {{file, {}, {}, {}}}; }
  std::vector<std::optional<double>> screen() {
    const std::vector<ProgramSample> before = *programs_.run(Side::Old, 0);
    programs_.runs = 0;
    return screenInProgram(programs_, before, "a", {editsOf("a"), editsOf("b"), editsOf("c")});
  }
  fakes::FakeClock clock_;
  FakePrograms programs_{clock_};
};

TEST_F(ScreenTest, TellsHowFastTheKernelIsWithEachPatch) {
  programs_.effects["a"].factor = 0.5;
  programs_.effects["b"].buildError = "no such thing";
  const auto speedups = screen();
  ASSERT_EQ(speedups.size(), 3u);
  ASSERT_TRUE(speedups[0]);
  EXPECT_NEAR(*speedups[0], 2, 0.01);
  EXPECT_FALSE(speedups[1]) << "it cannot be built";
  ASSERT_TRUE(speedups[2]);
  EXPECT_NEAR(*speedups[2], 1, 0.01) << "another kernel's patch";
  EXPECT_EQ(programs_.runs, 2);
}

TEST_F(ScreenTest, AProgramThatFailsTellsNothing) {
  programs_.effects["c"].failure = "it crashed";
  const auto speedups = screen();
  EXPECT_TRUE(speedups[0] && speedups[1]);
  EXPECT_FALSE(speedups[2]);
}

TEST_F(ScreenTest, AProgramThatRunsLongRunsOnce) {
  programs_.runSeconds = 7;
  const auto speedups = screen();
  EXPECT_TRUE(speedups[0]);
  EXPECT_FALSE(speedups[1]);
  EXPECT_EQ(programs_.runs, 1);
}

} // namespace
} // namespace kopt
