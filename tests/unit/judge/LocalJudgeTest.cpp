// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using LocalJudgeTest = JudgeFixture;

TEST_F(LocalJudgeTest, TheBaselineIsMeasuredAndItsPureOutputFound) {
  LocalJudge local = make();
  const auto baseline = local.measureBaseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(baseline->verdict, Verdict::Same);
  ASSERT_EQ(baseline->timings.size(), 1u);
  EXPECT_NEAR(baseline->timings[0].baselineSeconds, 1e-4, 1e-6);
  EXPECT_TRUE(local.subject().workload.launches[0].buffers[1].output);
}

TEST_F(LocalJudgeTest, EachLaunchOfTheBaselineIsProfiledOnceOnAModelledDevice) {
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.measureBaseline());
  EXPECT_EQ(runner_->profiles, 1);
}

TEST_F(LocalJudgeTest, VerdictsFollowTheFirstLayerThatFails) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const struct {
    const char *text;
    Verdict verdict;
    Stage stage;
  } cases[] = {
      {"REJECT FAST", Verdict::Rejected, Stage::Screen},
      {"NOBUILD", Verdict::BuildFailed, Stage::Build},
      {"WRONG FAST", Verdict::WrongResult, Stage::Verify},
      {"NAN FAST", Verdict::WrongResult, Stage::Verify},
      {"PARTIAL FAST", Verdict::WrongResult, Stage::Verify},
      {"GUARD FAST", Verdict::WrongResult, Stage::Verify},
      {"FLAKY FAST", Verdict::WrongResult, Stage::Verify},
      {"FAULT", Verdict::RunFailed, Stage::Verify},
      {"HANG", Verdict::TimedOut, Stage::Verify},
      {"NOOP FAST", Verdict::WrongResult, Stage::Verify},
      {"SLOW", Verdict::Slower, Stage::Time},
      {"FAST", Verdict::Faster, Stage::Time},
      {"other", Verdict::Same, Stage::Time},
      {"CHEAT FAST", Verdict::WrongResult, Stage::Time},
  };
  for (const auto &test : cases) {
    const Trial trial = judge(local, test.text);
    EXPECT_EQ(trial.verdict, test.verdict) << test.text << ": " << trial.reason;
    EXPECT_EQ(trial.stage, test.stage) << test.text;
    EXPECT_FALSE(trial.reason.empty()) << test.text;
  }
}

TEST_F(LocalJudgeTest, AFailureCostsOnlyItself) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const Trial before = judge(local, "FAST one");
  judge(local, "FAULT");
  judge(local, "HANG");
  const Trial after = judge(local, "FAST two");
  EXPECT_EQ(before.verdict, after.verdict);
  EXPECT_DOUBLE_EQ(before.speedup->estimate, after.speedup->estimate);
}

TEST_F(LocalJudgeTest, AWinHasAnIntervalAndIsMeasured) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const Trial trial = judge(local, "FAST");
  ASSERT_TRUE(trial.speedup);
  EXPECT_FALSE(trial.speedup->modelled);
  EXPECT_GT(trial.speedup->low, 1.9);
  EXPECT_GE(trial.speedup->pairs, 10u);
}

TEST_F(LocalJudgeTest, OnAGpuOnlyWhoNeedsCountersPaysForThem) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  EXPECT_EQ(runner_->profiles, 1);
  Trial fast = judge(local, "FAST");
  EXPECT_TRUE(fast.counters.empty());
  EXPECT_EQ(runner_->profiles, 1);
  const int builds = toolchain_.builds;
  ASSERT_TRUE(local.addCounters(fast));
  EXPECT_FALSE(fast.counters.empty());
  EXPECT_EQ(fast.counterSource, "fake");
  EXPECT_TRUE(fast.stages.contains("profile/other"));
  EXPECT_EQ(toolchain_.builds, builds); // what was verified is what is profiled
  ASSERT_TRUE(local.addCounters(fast));
  EXPECT_EQ(runner_->profiles, 2);
  Trial wrong = judge(local, "WRONG");
  ASSERT_TRUE(local.addCounters(wrong));
  EXPECT_TRUE(wrong.counters.empty());
}

TEST_F(LocalJudgeTest, CountersOfATrialOfAnEarlierRunNeedABuild) {
  LocalJudge first = make();
  ASSERT_TRUE(first.measureBaseline());
  Trial trial = judge(first, "FAST");
  LocalJudge second = make();
  ASSERT_TRUE(second.measureBaseline());
  second.remember(trial);
  ASSERT_TRUE(second.addCounters(trial));
  EXPECT_FALSE(trial.counters.empty());
}

TEST_F(LocalJudgeTest, BuildingAheadChangesNoVerdict) {
  const std::vector<std::string> texts = {
      "SLOW LONG",  "FAST LONG",        "NOBUILD", "REJECT", "FAST LONG// twin",
      "WRONG LONG", "kernel// comment", "FAULT",   "other"};
  std::vector<Candidate> candidates;
  for (const std::string &text : texts)
    candidates.push_back(candidateWith(text));
  LocalJudge plain = make();
  ASSERT_TRUE(plain.measureBaseline());
  std::vector<Trial> expected;
  for (const Candidate &candidate : candidates)
    expected.push_back(*plain.evaluate(candidate));
  EXPECT_EQ(toolchain_.most, 1);

  LocalJudge ahead = make("kernel", false, 3);
  ASSERT_TRUE(ahead.measureBaseline());
  ahead.begin(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto trial = ahead.evaluate(candidates[i]);
    ASSERT_TRUE(trial) << trial.error().what;
    EXPECT_EQ(trial->verdict, expected[i].verdict) << texts[i];
    EXPECT_EQ(trial->reason, expected[i].reason) << texts[i];
    EXPECT_EQ(trial->stage, expected[i].stage) << texts[i];
    EXPECT_EQ(trial->buildLog, expected[i].buildLog) << texts[i];
    EXPECT_EQ(trial->moduleHash, expected[i].moduleHash) << texts[i];
    EXPECT_TRUE(trial->stages.contains("wait")) << texts[i];
  }
  EXPECT_GT(toolchain_.most, 1);
  EXPECT_LE(toolchain_.most, 3);
}

TEST_F(LocalJudgeTest, AnErrorWhileBuildingAheadIsThatOfItsCandidate) {
  LocalJudge local = make("kernel", false, 2);
  ASSERT_TRUE(local.measureBaseline());
  local.begin({candidateWith("FULLDISK"), candidateWith("FAST")});
  const auto failed = local.evaluate(candidateWith("FULLDISK"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Environment);
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
}

TEST_F(LocalJudgeTest, TimesOfAThrottledGpuAreNoEvidence) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const Trial trial = judge(local, "FAST HOT");
  EXPECT_EQ(trial.verdict, Verdict::Ambiguous);
  EXPECT_NE(trial.reason.find("hw-thermal"), std::string::npos) << trial.reason;
}

TEST_F(LocalJudgeTest, TimesOfAGpuThatOthersUseAreNoEvidence) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const Trial trial = judge(local, "FAST OTHERS");
  EXPECT_EQ(trial.verdict, Verdict::Ambiguous);
  EXPECT_NE(trial.reason.find("process 4711"), std::string::npos) << trial.reason;
}

TEST_F(LocalJudgeTest, AWinnerIsTimedInFreshProcessesEachOfWhichCountsOnce) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  judge(local, "FAST");
  EXPECT_EQ(runner_->processes, 0);
  const auto confirmed = local.confirm(candidateWith("FAST"));
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster);
  EXPECT_EQ(runner_->processes, 5);
  EXPECT_EQ(confirmed->speedup->processes, 5u);
  EXPECT_EQ(confirmed->timings[0].samples.size(), 200u);
  EXPECT_EQ(confirmed->timings[0].samples.back().process, 4u);
  EXPECT_NE(confirmed->reason.find("in 5 processes"), std::string::npos) << confirmed->reason;
}

TEST_F(LocalJudgeTest, WhatOneProcessDoesToTheTimesIsNoWin) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  // In some processes the baseline has bad luck: two percent is more than enough to win in one of
  // those.
  runner_->processEffect = [](int process) { return process % 2 == 0 ? 1.02 : 0.99; };
  EXPECT_EQ(judge(local, "other").verdict, Verdict::Faster);
  const auto confirmed = local.confirm(candidateWith("other"));
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Ambiguous) << confirmed->reason;
}

TEST_F(LocalJudgeTest, WhatWasBuiltAheadInVainIsDropped) {
  const int before = toolchain_.builds;
  {
    LocalJudge local = make("kernel", false, 1);
    ASSERT_TRUE(local.measureBaseline());
    std::vector<Candidate> many;
    for (int i = 0; i < 100; ++i)
      many.push_back(candidateWith(fmt::format("LONG {}", i)));
    local.begin(many);
  }
  EXPECT_LT(toolchain_.builds - before, 10);
}

TEST_F(LocalJudgeTest, StagesAddUpToTheTrialsSeconds) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const Trial trial = judge(local, "FAST LONG");
  double sum = 0;
  for (const auto &[name, seconds] : trial.stages) {
    EXPECT_GE(seconds, 0) << name;
    sum += seconds;
  }
  for (const char *name : {"build/screen", "build/compile", "load", "verify/other", "verify/judge",
                           "time/other", "time/judge", "time/statistics"})
    EXPECT_TRUE(trial.stages.contains(name)) << name;
  EXPECT_GE(trial.stages.at("build/compile"), 0.05);
  EXPECT_LE(sum, trial.seconds);
  EXPECT_GT(sum, 0.5 * trial.seconds); // the rest is this process waiting for a processor
}

TEST_F(LocalJudgeTest, TheSameMachineCodeIsADuplicateOfTheBaselineOrOfATrial) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const Trial comment = judge(local, "kernel// only a comment changed");
  EXPECT_EQ(comment.verdict, Verdict::Duplicate);
  EXPECT_NE(comment.reason.find("baseline"), std::string::npos);
  judge(local, "FAST");
  EXPECT_EQ(judge(local, "FAST// again").verdict, Verdict::Duplicate);
}

TEST_F(LocalJudgeTest, ConfirmationLooksAtKnownCodeAgain) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  judge(local, "FAST");
  const int builds = toolchain_.builds;
  const auto confirmed = local.confirm(candidateWith("FAST"));
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster);
  EXPECT_DOUBLE_EQ(confirmed->speedup->confidence, 0.99);
  EXPECT_EQ(toolchain_.builds, builds); // the very module that was verified
}

TEST_F(LocalJudgeTest, CodeOfAnEarlierRunIsRemembered) {
  LocalJudge first = make();
  ASSERT_TRUE(first.measureBaseline());
  const Trial trial = judge(first, "FAST");
  LocalJudge second = make();
  ASSERT_TRUE(second.measureBaseline());
  second.remember(trial);
  EXPECT_EQ(judge(second, "FAST// again").verdict, Verdict::Duplicate);
}

TEST_F(LocalJudgeTest, OnAModelledDeviceTheSpeedupIsLabelled) {
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.measureBaseline());
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster);
  EXPECT_TRUE(trial.speedup->modelled);
  EXPECT_NE(trial.reason.find("modelled"), std::string::npos);
}

Mutant mutant(const std::string &text, const std::string &excuse = "") {
  Mutant result;
  result.op = "comparison";
  result.title = text;
  result.mayBeEqual = excuse;
  result.sliceText = text;
  return result;
}

TEST_F(LocalJudgeTest, AGateDecidesAndTheOthersAreOnRecord) {
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  const Trial wrong = judge(local, "WRONG FAST");
  EXPECT_EQ(wrong.check, "outputs");
  ASSERT_FALSE(wrong.checks.empty());
  EXPECT_EQ(wrong.checks.back().state, CheckState::Failed);
  const Trial fast = judge(local, "FAST");
  EXPECT_TRUE(fast.check.empty());
  for (const char *name : {"screen", "outputs", "fresh", "contents", "repeat", "timed"})
    EXPECT_TRUE(std::any_of(fast.checks.begin(), fast.checks.end(), [&](const CheckRecord &record) {
      return record.check == name && record.state == CheckState::Passed;
    })) << name;
  // A launch without a declaration has no other sizes, a GPU no order of threads: that is said,
  // never passed.
  for (const char *name : {"sizes", "schedule", "reference"})
    EXPECT_TRUE(std::any_of(fast.checks.begin(), fast.checks.end(), [&](const CheckRecord &record) {
      return record.check == name && record.state == CheckState::NotRun && !record.detail.empty();
    })) << name;
}

TEST_F(LocalJudgeTest, WhatNoLaunchMakesACandidateDoIsNotVerified) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 2;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}},
                           {1, 3, "`n == 77` is false", {"!$2 == 77"}}};
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.measureBaseline());
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
  const Trial rare = judge(local, "RARE FAST");
  EXPECT_EQ(rare.verdict, Verdict::Suspect);
  EXPECT_EQ(rare.check, "coverage");
  EXPECT_NE(rare.reason.find("`n == 77` is true at slice.cu:3"), std::string::npos) << rare.reason;
  EXPECT_EQ(rare.reason.find("is false"), std::string::npos) << rare.reason;
  // The original's own is no news.
  LocalJudge other = make("RARE kernel", true);
  ASSERT_TRUE(other.measureBaseline());
  EXPECT_EQ(judge(other, "RARE FAST").verdict, Verdict::Faster);
}

TEST_F(LocalJudgeTest, WhatIsReachedIsAskedOfWinnersOnAGpuAndOfNoMutant) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}}};
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  EXPECT_EQ(judge(local, "RARE").verdict, Verdict::Same);
}

TEST_F(LocalJudgeTest, WhatAGpuDoesNotShowTheEmulatedDeviceDoes) {
  hasEmulated_ = true;
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.measureBaseline());
  EXPECT_EQ(opened_, 0) << "it is opened when it is asked";
  const Trial racy = judge(local, "RACES");
  EXPECT_EQ(racy.verdict, Verdict::RunFailed);
  EXPECT_EQ(racy.check, "emulated");
  EXPECT_EQ(racy.reason.rfind("on the emulated device: ", 0), 0u) << racy.reason;
  const Trial fast = judge(local, "FAST");
  EXPECT_EQ(fast.verdict, Verdict::Faster);
  ASSERT_TRUE(recordOf(fast, "emulated"));
  EXPECT_EQ(recordOf(fast, "emulated")->state, CheckState::Passed)
      << recordOf(fast, "emulated")->detail;
  EXPECT_EQ(opened_, 1);
}

TEST_F(LocalJudgeTest, TheEmulatedDeviceIsAskedOfWinners) {
  hasEmulated_ = true;
  LocalJudge local = make();
  ASSERT_TRUE(local.measureBaseline());
  EXPECT_EQ(judge(local, "RACES").verdict, Verdict::Same);
  const Trial first = judge(local, "RACES FAST");
  EXPECT_EQ(first.verdict, Verdict::Faster);
  EXPECT_EQ(opened_, 0);
  const auto confirmed = local.confirm(first.candidate);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::RunFailed);
  EXPECT_EQ(confirmed->check, "emulated");
}

TEST_F(LocalJudgeTest, WhereTheOriginalIsNoKernelForTheEmulatedDeviceItSaysNothing) {
  hasEmulated_ = true;
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make("RACES kernel", false, 0, options);
  ASSERT_TRUE(local.measureBaseline());
  const Trial fast = judge(local, "RACES FAST");
  EXPECT_EQ(fast.verdict, Verdict::Faster);
  ASSERT_TRUE(recordOf(fast, "emulated"));
  EXPECT_EQ(recordOf(fast, "emulated")->state, CheckState::NotRun);
  EXPECT_NE(recordOf(fast, "emulated")->detail.find("the original itself"), std::string::npos);
}

TEST_F(LocalJudgeTest, AWrongVersionThatAGpuDoesNotShowIsNoticedByTheEmulatedDevice) {
  Mutant mutant;
  mutant.sliceText = "RACES";
  mutant.title = "a barrier removed";
  frontend_.mutantSet.mutants = {mutant};
  LocalJudge alone = make();
  ASSERT_TRUE(alone.measureBaseline());
  EXPECT_EQ(alone.mutations().noticed, 0u);
  hasEmulated_ = true;
  LocalJudge beside = make();
  ASSERT_TRUE(beside.measureBaseline());
  EXPECT_EQ(beside.mutations().noticed, 1u);
}

TEST_F(LocalJudgeTest, NothingJudgedWithALayerOffIsAWin) {
  JudgeOptions options;
  options.checks = *CheckSwitches::without({"contents", "roofline"});
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.measureBaseline());
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Suspect);
  EXPECT_EQ(trial.reason.rfind("not a verdict: checks off: contents, roofline", 0), 0u)
      << trial.reason;
  EXPECT_EQ(judge(local, "SLOW").verdict, Verdict::Slower);
}

TEST_F(LocalJudgeTest, KeptGoingTheFirstLayerStillDecides) {
  JudgeOptions options;
  options.keepGoing = true;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.measureBaseline());
  const Trial trial = judge(local, "REJECT WRONG FAST");
  EXPECT_EQ(trial.verdict, Verdict::Rejected);
  EXPECT_EQ(trial.check, "screen");
  EXPECT_EQ(trial.stage, Stage::Screen);
  std::size_t failed = 0;
  for (const CheckRecord &record : trial.checks)
    failed += record.state == CheckState::Failed;
  EXPECT_GE(failed, 3u);
}

TEST_F(LocalJudgeTest, ALayerThatIsOffIsNotAsked) {
  JudgeOptions options;
  options.checks = *CheckSwitches::without({"screen"});
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.measureBaseline());
  EXPECT_EQ(judge(local, "REJECT WRONG").check, "outputs");
}

TEST_F(LocalJudgeTest, AWorkloadThatNoticesWrongKernelsIsStrongEnough) {
  frontend_.mutantSet.mutants = {mutant("WRONG 1"), mutant("NAN 2"),
                                 mutant("kernel// the same program"), mutant("NOBUILD"),
                                 mutant("other", "where n is a multiple of 4")};
  LocalJudge local = make();
  const auto baseline = local.measureBaseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(local.mutations().tried, 3u);
  EXPECT_EQ(local.mutations().noticed, 2u);
  EXPECT_FALSE(local.mutations().isTooWeak()); // the one that is left has an excuse
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
}

TEST_F(LocalJudgeTest, NoWinIsClaimedOnAWorkloadThatIsTooWeak) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("other")};
  LocalJudge local = make();
  const auto baseline = local.measureBaseline();
  ASSERT_TRUE(baseline);
  ASSERT_FALSE(baseline->findings.empty());
  EXPECT_EQ(baseline->findings.back().id, "mutants");
  EXPECT_EQ(baseline->findings.back().severity, "warning");
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Suspect);
  EXPECT_EQ(trial.check, "mutants");
  EXPECT_NE(trial.reason.find("other"), std::string::npos) << trial.reason;
  EXPECT_FALSE(local.mutations().remedy().empty());

  JudgeOptions options;
  options.acceptWeakWorkload = true;
  LocalJudge lenient = make("kernel", false, 0, options);
  ASSERT_TRUE(lenient.measureBaseline());
  EXPECT_EQ(judge(lenient, "FAST").verdict, Verdict::Faster);
}

TEST_F(LocalJudgeTest, WhereOnlyManyInputsShowAMistakeAGainIsVerifiedOnMany) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("SELDOM")};
  JudgeOptions options;
  options.cache = folder_.path() / "cache";
  for (const char *run : {"judged", "recalled"}) {
    LocalJudge local = make("kernel", false, 0, options);
    ASSERT_TRUE(local.measureBaseline());
    EXPECT_FALSE(local.mutations().isTooWeak()) << run;
    EXPECT_EQ(local.mutations().draws, 5) << run;
    const Trial honest = judge(local, "FAST");
    EXPECT_EQ(honest.verdict, Verdict::Faster) << honest.reason;
    EXPECT_TRUE(std::any_of(honest.findings.begin(), honest.findings.end(),
                            [](const Finding &finding) { return finding.id == "escalated"; }));
    EXPECT_EQ(judge(local, "FAST SELDOM").verdict, Verdict::WrongResult) << run;
  }
}

TEST_F(LocalJudgeTest, AMutationTestIsKeptFromRunToRun) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("other")};
  JudgeOptions options;
  options.cache = folder_.path() / "cache";
  LocalJudge first = make("kernel", false, 0, options);
  ASSERT_TRUE(first.measureBaseline());
  const int builds = toolchain_.builds;
  LocalJudge second = make("kernel", false, 0, options);
  ASSERT_TRUE(second.measureBaseline());
  EXPECT_EQ(toolchain_.builds, builds + 1); // the baseline alone
  EXPECT_TRUE(second.mutations().isTooWeak());
  frontend_.mutantSet.mutants.pop_back();
  LocalJudge third = make("kernel", false, 0, options);
  ASSERT_TRUE(third.measureBaseline());
  EXPECT_FALSE(third.mutations().isTooWeak());
}

void expectRefused(const Result<Trial> &baseline, const char *word) {
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().code, ErrorCode::BaselineFailed);
  EXPECT_NE(baseline.error().what.find(word), std::string::npos) << baseline.error().what;
  EXPECT_EQ(baseline.error().where, "scale.cu:7");
}

TEST_F(LocalJudgeTest, ABaselineThatDoesNotBuildIsRefused) {
  expectRefused(make("NOBUILD").measureBaseline(), "build");
}
TEST_F(LocalJudgeTest, ABaselineThatFaultsIsRefused) {
  expectRefused(make("FAULT").measureBaseline(), "fails");
}
TEST_F(LocalJudgeTest, ABaselineThatDoesNotRepeatIsRefused) {
  expectRefused(make("FLAKY").measureBaseline(), "repeat");
}
TEST_F(LocalJudgeTest, ABaselineThatWritesNothingIsRefused) {
  expectRefused(make("NOOP").measureBaseline(), "writes to none");
}
TEST_F(LocalJudgeTest, AWorkloadThatCannotTellWrongFromRightIsRefused) {
  expectRefused(make("CONSTANT").measureBaseline(), "same for different inputs");
}

} // namespace
