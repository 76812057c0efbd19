// SPDX-License-Identifier: Apache-2.0
// Each check of the list alone: what it refuses, that it lets a good candidate pass, where it does
// not run, and that nothing else refuses the same where it is left out.
#include "driver/model/CheckList.h"
#include "unit/judge/JudgeFixture.h"

#include <gmock/gmock.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

struct Case {
  CheckId check;
  const char *refused;   ///< the candidate that it refuses
  Verdict verdict;       ///< of that one
  bool modelled = false; ///< on the emulated device
  bool declared = false; ///< launches of other sizes and scalars can be made
  bool recorded = true;  ///< passed() of a good candidate; else the check is part of each launch
};

/// In the order of the list.
const Case kCases[] = {
    {CheckId::Screen, "REJECT FAST", Verdict::Rejected},
    {CheckId::Externals, "MALLOC FAST", Verdict::Rejected},
    {CheckId::Inputs, "INPUT FAST", Verdict::WrongResult, false, false, false},
    {CheckId::Guards, "GUARD FAST", Verdict::WrongResult, false, false, false},
    {CheckId::Unwritten, "PARTIAL FAST", Verdict::WrongResult, false, false, false},
    {CheckId::Races, "RACY FAST", Verdict::RunFailed, true, false, false},
    {CheckId::Outputs, "WRONG_AT_outputs FAST", Verdict::WrongResult},
    {CheckId::Fresh, "WRONG_AT_fresh FAST", Verdict::WrongResult},
    {CheckId::Scalars, "WRONG_AT_scalars FAST", Verdict::WrongResult, false, true},
    {CheckId::Sizes, "WRONG_AT_sizes FAST", Verdict::WrongResult, false, true},
    {CheckId::Contents, "WRONG_AT_contents FAST", Verdict::WrongResult},
    {CheckId::Alignment, "WRONG_AT_alignment FAST", Verdict::WrongResult, false, true},
    {CheckId::Repeat, "WRONG_AT_repeat FAST", Verdict::WrongResult},
    {CheckId::Schedule, "WRONG_AT_schedule FAST", Verdict::WrongResult, true},
    {CheckId::Reference, "WRONG_AT_reference FAST", Verdict::WrongResult, false, true},
    {CheckId::Coverage, "RARE FAST", Verdict::Suspect, true},
    {CheckId::Emulated, "RACES FAST", Verdict::RunFailed},
    {CheckId::Sanitizer, "SANITIZED FAST", Verdict::RunFailed},
    {CheckId::Timed, "CHEAT FAST", Verdict::WrongResult},
    {CheckId::Roofline, "FAST", Verdict::Suspect},
    {CheckId::Mutants, "FAST", Verdict::Suspect},
    {CheckId::Obligations, "FLAG FAST", Verdict::Suspect},
};

void PrintTo(const Case &one, std::ostream *out) { *out << toString(one.check); }

/// Of declaredSubject(), in double precision.
ReferenceClone preciseClone() {
  ReferenceClone clone;
  clone.slice = "PRECISE kernel";
  for (const std::string name : {"in", "out", "factor", "n"}) {
    ReferenceParam param;
    param.name = name;
    if (name == "in" || name == "out")
      param.element = {4, 8, {{0, 0, "f32", "f64"}}};
    clone.params.push_back(param);
  }
  return clone;
}

class EachCheck : public JudgeFixture, public testing::WithParamInterface<Case> {
protected:
  EachCheck() {
    const CheckId check = GetParam().check;
    makeRunner(GetParam().modelled);
    options_.depth = check == CheckId::Sanitizer ? Depth::Win : Depth::Trial;
    hasEmulated_ = check == CheckId::Emulated;
  }

  /// What one check needs beside a candidate. `isGood`: a candidate without faults passes.
  LocalJudge prepare(bool isGood) {
    const CheckId check = GetParam().check;
    if (check == CheckId::Reference)
      frontend_.clone = preciseClone();
    if (check == CheckId::Coverage) {
      frontend_.reach.variable = "coverage";
      frontend_.reach.bytes = 1;
      frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}, {}, true, true}};
    }
    if (check == CheckId::Mutants) {
      Mutant mutant;
      mutant.sliceText = mutant.title = isGood ? "WRONG" : "not noticed";
      frontend_.mutantSet.mutants = {mutant};
    }
    if (!isGood && (check == CheckId::Mutants || check == CheckId::Obligations ||
                    check == CheckId::Coverage)) // else a line of the report
      options_.assurance = AssurancePolicy::Strict;
    if (check == CheckId::Roofline && !isGood)
      runner_->device().storeBytesPerSecond = 64 * 4 / 8e-5; // FAST takes 5e-5 s
    return make(GetParam().declared ? declaredSubject() : makeSubject(), options_);
  }

  JudgeOptions options_;
};

TEST_P(EachCheck, RefusesWhatItIsFor) {
  LocalJudge local = prepare(false);
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  const Trial trial = judge(local, GetParam().refused);
  EXPECT_EQ(trial.check, GetParam().check) << trial.reason;
  EXPECT_EQ(trial.verdict, GetParam().verdict) << trial.reason;
  EXPECT_FALSE(trial.reason.empty());
}

TEST_P(EachCheck, LetsAGoodCandidatePass) {
  LocalJudge local = prepare(true);
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << toString(trial.check) << ": " << trial.reason;
  const CheckRecord *record = recordOf(trial, GetParam().check);
  if (!GetParam().recorded || GetParam().check == CheckId::Obligations ||
      GetParam().check == CheckId::Roofline)
    EXPECT_FALSE(record) << "it has a record of failures alone";
  else
    EXPECT_TRUE(record && record->state == CheckState::Passed)
        << (record ? record->detail : "no record");
}

TEST_P(EachCheck, LeftOutIsNotAskedAndNothingIsAWin) {
  options_.checks = *CheckSwitches::without({toString(GetParam().check)});
  LocalJudge local = prepare(false);
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, GetParam().refused);
  EXPECT_NE(trial.check, GetParam().check) << trial.reason;
  EXPECT_FALSE(recordOf(trial, GetParam().check));
  EXPECT_NE(trial.verdict, Verdict::Faster) << trial.reason;
}

INSTANTIATE_TEST_SUITE_P(Checks, EachCheck, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(toString(info.param.check)); });

TEST(CheckList, EachCheckHasACaseHere) {
  std::vector<CheckId> listed, tested;
  for (const CheckInfo &info : kAllChecks)
    listed.push_back(info.id);
  for (const Case &one : kCases)
    tested.push_back(one.check);
  EXPECT_EQ(tested, listed);
}

TEST(CheckList, AnUnknownNameIsNamedWithItsNeighbour) {
  const auto switches = CheckSwitches::without({"repaet"});
  ASSERT_FALSE(switches);
  EXPECT_EQ(switches.error().code, ErrorCode::Usage);
  EXPECT_THAT(switches.error().what, testing::HasSubstr("repaet"));
  EXPECT_THAT(switches.error().hint, testing::HasSubstr("repeat"));
}

TEST(CheckList, TheRunnerLeavesOutItsOwn) {
  const auto switches = CheckSwitches::without({"guards", "inputs", "sizes"});
  ASSERT_TRUE(switches);
  EXPECT_THAT(switches->runnerChecks(), testing::UnorderedElementsAre("guards", "inputs"));
  EXPECT_FALSE(switches->on(CheckId::Sizes));
  EXPECT_TRUE(switches->on(CheckId::Contents));
}

/// Where a check cannot run it says so, and is not taken for one that passed.
class NotRun : public JudgeFixture {
protected:
  void expectNotRun(LocalJudge local, CheckId check, const std::string &words,
                    CheckState state = CheckState::NotRun) {
    ASSERT_TRUE(local.baseline());
    const Trial trial = judge(local, "FAST");
    EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
    const CheckRecord *record = recordOf(trial, check);
    ASSERT_TRUE(record) << check;
    EXPECT_EQ(record->state, state) << check;
    EXPECT_THAT(record->detail, testing::HasSubstr(words)) << check;
    EXPECT_EQ(std::ranges::any_of(trial.assurance.gaps,
                                  [&](const AssuranceGap &gap) { return gap.check == check; }),
              state == CheckState::NotRun)
        << check;
  }
};

TEST_F(NotRun, OtherScalarsAndSizesWithoutADeclaration) {
  expectNotRun(make(), CheckId::Scalars, "no scalars to change", CheckState::NotApplicable);
  expectNotRun(make(), CheckId::Sizes, "");
}
TEST_F(NotRun, OtherSchedulesOnAGpu) {
  expectNotRun(make(), CheckId::Schedule, "GPU", CheckState::NotApplicable);
}
TEST_F(NotRun, AReferenceThatCannotBeMade) {
  frontend_.clone.refusals = {{"inline-assembly", "it has inline assembly", 1}};
  expectNotRun(make(), CheckId::Reference, "inline assembly");
}
TEST_F(NotRun, AReferenceOfWhatHasNothingToWiden) {
  expectNotRun(make(), CheckId::Reference, "integers", CheckState::NotApplicable);
}
TEST_F(NotRun, CoverageOfWhatIsNoWinnerYetOnAGpu) {
  depth_ = Depth::Search;
  expectNotRun(make(), CheckId::Coverage, "winners");
}
TEST_F(NotRun, TheEmulatedDeviceBesideItself) {
  expectNotRun(make("kernel", true), CheckId::Emulated, "emulated device",
               CheckState::NotApplicable);
}
TEST_F(NotRun, TheSanitizerOnTheEmulatedDevice) {
  expectNotRun(make("kernel", true), CheckId::Sanitizer, "emulated device",
               CheckState::NotApplicable);
}
TEST_F(NotRun, TheSanitizerOfWhatTheOriginalDoesAsWell) {
  depth_ = Depth::Win;
  LocalJudge local = make("kernel HURRIED");
  ASSERT_TRUE(local.baseline());
  const Trial same = judge(local, "FAST HURRIED");
  EXPECT_EQ(same.verdict, Verdict::Faster) << same.reason;
  ASSERT_TRUE(recordOf(same, CheckId::Sanitizer));
  EXPECT_EQ(recordOf(same, CheckId::Sanitizer)->state, CheckState::NotRun);
  // That its warps' threads race is no reason to let its warps do so.
  const Trial worse = judge(local, "FAST HURRIED SANITIZED");
  EXPECT_EQ(worse.verdict, Verdict::RunFailed);
  EXPECT_EQ(worse.check, CheckId::Sanitizer);
}
TEST_F(NotRun, MutantsOfAKernelThatHasNone) {
  expectNotRun(make(), CheckId::Mutants, "no wrong versions", CheckState::NotApplicable);
}

TEST_F(NotRun, WhatAConfirmationHasNoTimeFor) {
  depth_ = Depth::Search;
  secondsLeft_ = [] { return 0.0; };
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  judge(local, "FAST");
  const auto confirmed = local.judge(candidateWith("FAST"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster) << confirmed->reason;
  EXPECT_EQ(confirmed->speedup->processes, 5u);
  EXPECT_EQ(recordOf(*confirmed, CheckId::Outputs)->state, CheckState::Passed);
  EXPECT_EQ(recordOf(*confirmed, CheckId::Fresh)->state, CheckState::Passed);
  for (const CheckId check : {CheckId::Sanitizer, CheckId::Repeat, CheckId::Coverage}) {
    const CheckRecord *record = recordOf(*confirmed, check);
    ASSERT_TRUE(record) << check;
    EXPECT_EQ(record->state, CheckState::NotRun) << check;
    EXPECT_THAT(record->detail, testing::HasSubstr("--budget-seconds")) << check;
  }
  EXPECT_EQ(confirmed->assurance.level, AssuranceLevel::Partial);

  const int profiles = runner_->profiles;
  Trial trial = *confirmed;
  trial.counters.clear();
  ASSERT_TRUE(local.addCounters(trial));
  EXPECT_EQ(runner_->profiles, profiles);
}

TEST_F(NotRun, LittleTimeLosesNoCandidateThatOneMoreCheckWouldProve) {
  depth_ = Depth::Search;
  secondsLeft_ = [] { return 0.0; };
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial proven = judge(local, "FAST UNORDERED");
  EXPECT_EQ(proven.verdict, Verdict::Faster) << proven.reason;
  ASSERT_TRUE(recordOf(proven, CheckId::Sanitizer));
  EXPECT_EQ(recordOf(proven, CheckId::Sanitizer)->state, CheckState::Passed);
  const Trial wrong = judge(local, "FAST UNORDERED SANITIZED");
  EXPECT_EQ(wrong.verdict, Verdict::RunFailed);
  EXPECT_EQ(wrong.check, CheckId::Sanitizer);
}

class OwnError : public JudgeFixture {
protected:
  void computesInDouble() {
    frontend_.clone = {};
    frontend_.clone.refusals = {{"double", "it computes in double precision", 1}};
  }
  /// The verdict on a candidate without the original's error.
  Trial judgeExact(const std::string &original, const std::string &candidate,
                   const std::string &scalar = "f32", bool ownLaunchesOnly = false) {
    makeRunner(false);
    Subject subject = declaredSubject();
    for (std::size_t i = 0; scalar == "f64" && i < 2; ++i) {
      subject.specialization.params[i].scalar = scalar;
      subject.specialization.params[i].pointeeSize = 8;
      for (Launch &launch : subject.workload.launches) {
        launch.buffers[i].scalar = scalar;
        launch.buffers[i].bytes *= 2;
      }
    }
    subject.sliceText = original;
    subject.specialization.chunks = makeSubject(original).specialization.chunks;
    JudgeOptions options;
    options.ownLaunchesOnly = ownLaunchesOnly;
    LocalJudge local = make(std::move(subject), options);
    EXPECT_TRUE(local.baseline());
    return judge(local, candidate);
  }
};

TEST_F(OwnError, IsAllowedOnHeldOutLaunchesToo) {
  frontend_.clone = preciseClone();
  EXPECT_EQ(judgeExact("kernel ROUNDS", "FAST", "f32", true).verdict, Verdict::Faster);
  const int runs = runner_->runs;
  EXPECT_EQ(judgeExact("kernel ROUNDS", "FAST WRONG", "f32", true).check, CheckId::Outputs);
  EXPECT_LT(runs, 40) << "nothing is learned from derived launches";
}

TEST_F(OwnError, MayBeTheOriginals) {
  frontend_.clone = preciseClone();
  const Trial exact = judgeExact("kernel ROUNDS", "FAST");
  EXPECT_EQ(exact.verdict, Verdict::Faster) << exact.check << ": " << exact.reason;
  const Trial wrong = judgeExact("kernel ROUNDS", "FAST WRONG");
  EXPECT_EQ(wrong.check, CheckId::Outputs) << wrong.reason;
  // What is no rounding excuses nothing.
  EXPECT_EQ(judgeExact("kernel JUMPS", "FAST").check, CheckId::Outputs);
}

TEST_F(OwnError, OfDoublesIsThatOfFusing) {
  computesInDouble();
  const Trial exact = judgeExact("kernel FUSES", "FAST", "f64");
  EXPECT_EQ(exact.verdict, Verdict::Faster) << exact.check << ": " << exact.reason;
  EXPECT_EQ(judgeExact("kernel FUSES", "FAST ROUNDS", "f64").check, CheckId::Outputs);
  frontend_.clone.refusals = {{"inline-assembly", "it has inline assembly", 1}};
  EXPECT_EQ(judgeExact("kernel FUSES", "FAST", "f64").check, CheckId::Outputs);
}

TEST_F(OwnError, OfDoublesIsAlsoThatOfRoundingUp) {
  computesInDouble();
  EXPECT_EQ(judgeExact("kernel STEEP", "FAST", "f64").verdict, Verdict::Faster);
  EXPECT_EQ(judgeExact("kernel STEEP", "FAST FUSES", "f64").verdict, Verdict::Faster);
  EXPECT_EQ(judgeExact("kernel", "FAST FUSES", "f64").check, CheckId::Outputs);
}

TEST_F(OwnError, IsAllowedInTimedLaunchesToo) {
  computesInDouble();
  const Trial exact = judgeExact("kernel FUSES", "FAST LITTLE", "f64");
  EXPECT_EQ(exact.verdict, Verdict::Faster) << exact.check << ": " << exact.reason;
  EXPECT_EQ(judgeExact("kernel", "FAST LITTLE", "f64").check, CheckId::Timed);
}

TEST_F(OwnError, IsUnknownWithoutAClone) {
  frontend_.clone = {};
  frontend_.clone.refusals = {{"inline-assembly", "it has inline assembly", 1}};
  EXPECT_EQ(judgeExact("kernel ROUNDS", "FAST").check, CheckId::Outputs);
}

} // namespace
