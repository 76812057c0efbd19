// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using LearnOutputsTest = JudgeFixture;

void expectRefused(const Result<Baseline> &baseline, const char *word) {
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().code, ErrorCode::BaselineFailed);
  EXPECT_NE(baseline.error().what.find(word), std::string::npos) << baseline.error().what;
  EXPECT_EQ(baseline.error().where, "scale.cu:7");
}

TEST_F(LearnOutputsTest, TheBaselineIsMeasuredAndItsPureOutputFound) {
  LocalJudge local = make();
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(baseline->trial.verdict, Verdict::Same);
  ASSERT_EQ(baseline->trial.timings.size(), 1u);
  EXPECT_NEAR(baseline->trial.timings[0].baselineSeconds, 1e-4, 1e-6);
  EXPECT_TRUE(baseline->workload.launches[0].buffers[1].output);
}

TEST_F(LearnOutputsTest, WhatKeepsTheLargestOfItsOldContentsIsNoPureOutput) {
  LocalJudge local = make("LARGEST"); // poison is small
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_FALSE(baseline->workload.launches[0].buffers[1].output);
}

TEST_F(LearnOutputsTest, EachLaunchOfTheBaselineIsProfiledOnceOnAModelledDevice) {
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(runner_->profiles, 1);
  EXPECT_FALSE(runner_->hasPreparedProfile);
}

TEST_F(LearnOutputsTest, OnAGpuWhatCountsStartsWhileTheChecksLearn) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(runner_->profiles, 1);
  EXPECT_TRUE(runner_->hasPreparedProfile);
}

TEST_F(LearnOutputsTest, ABaselineThatDoesNotBuildIsRefused) {
  expectRefused(make("NOBUILD").baseline(), "build");
}

TEST_F(LearnOutputsTest, ABaselineThatFaultsIsRefused) {
  expectRefused(make("FAULT").baseline(), "fails");
}

TEST_F(LearnOutputsTest, ABaselineThatNeverRepeatsHasNothingToCompare) {
  expectRefused(make("CLOCK").baseline(), "nothing can be compared");
}

TEST_F(LearnOutputsTest, ABaselineThatDependsOnMemoryThatNobodyGaveItIsRefused) {
  expectRefused(make("POISONED").baseline(), "does not repeat its own result");
}

TEST_F(LearnOutputsTest, ABaselineMayReadSharedMemoryThatNobodySetIfItsResultsDoNotDependOnIt) {
  LocalJudge local = make("kernel BORDER", true);
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  const Trial trial = judge(local, "FAST BORDER");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  EXPECT_TRUE(std::ranges::any_of(trial.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.what.find("reads shared memory that it did not set") != std::string::npos;
  }));
  EXPECT_EQ(judge(local, "FAST BORDER POISONED").verdict, Verdict::WrongResult);
  LocalJudge dependent = make("kernel BORDER POISONED", true);
  EXPECT_FALSE(dependent.baseline());
  LocalJudge careful = make("kernel", true); // a candidate may, too, where the original does not
  ASSERT_TRUE(careful.baseline());
  const Trial border = judge(careful, "FAST BORDER");
  EXPECT_EQ(border.verdict, Verdict::Faster) << border.reason;
  EXPECT_TRUE(std::ranges::any_of(border.findings, [](const Finding &finding) {
    return finding.message.find("reads shared memory that no thread has set") != std::string::npos;
  }));
  EXPECT_EQ(judge(careful, "FAST BORDER POISONED").verdict, Verdict::WrongResult);
}

TEST_F(LearnOutputsTest, ABaselineMayRaceIfItsResultsDoNotDependOnTheOrder) {
  LocalJudge local = make("kernel RACY", true);
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  const Trial trial = judge(local, "FAST RACY");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  EXPECT_TRUE(std::ranges::any_of(trial.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.check == CheckId::Races && gap.what.find("two threads meet") != std::string::npos;
  }));
  EXPECT_EQ(judge(local, "FAST RACY BY_ORDER").verdict, Verdict::WrongResult);
  LocalJudge dependent = make("kernel RACY BY_ORDER", true);
  const auto refused = dependent.baseline();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("depend on the order of its threads"), std::string::npos);
  EXPECT_TRUE(make("kernel RACY FRINGE", true).baseline());
  EXPECT_TRUE(make("kernel RACY BORDER", true).baseline());
  const auto derailed = make("kernel RACY DERAILS", true).baseline();
  ASSERT_FALSE(derailed);
  EXPECT_NE(derailed.error().what.find("illegal address 16"), std::string::npos)
      << derailed.error().what;
  LocalJudge apart = make("kernel", true);
  ASSERT_TRUE(apart.baseline());
  EXPECT_EQ(judge(apart, "FAST RACY").verdict, Verdict::RunFailed);
}

TEST_F(LearnOutputsTest, ABaselineThatVariesALittleIsComparedByItsOwnSpread) {
  LocalJudge local = make("NOISY");
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  const Buffer &out = baseline->workload.launches[0].buffers[1];
  EXPECT_GT(out.spread, 0.002);
  EXPECT_LT(out.spread, 0.05);
  EXPECT_FALSE(out.varies);
  EXPECT_TRUE(out.output) << "what varies hides no pure output";
  const Trial same = judge(local, "NOISY FAST");
  EXPECT_EQ(same.verdict, Verdict::Faster) << same.reason;
  EXPECT_TRUE(std::ranges::any_of(same.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.check == CheckId::Outputs && gap.what.find("'out'") != std::string::npos;
  }));
  EXPECT_EQ(judge(local, "NOISY FAST WRONG").verdict, Verdict::WrongResult);
}

TEST_F(LearnOutputsTest, WhatVariesSeldomIsLearntWithMoreRuns) {
  for (const int every : {9, 15, 40}) {
    makeRunner(false);
    runner_->jumpsEvery = every;
    LocalJudge local = make(makeSubject("NOISY"), {});
    const auto baseline = local.baseline();
    ASSERT_TRUE(baseline) << every << ": " << baseline.error().what;
    EXPECT_LT(baseline->workload.launches[0].buffers[1].spread, 0.1);
  }
}

TEST_F(LearnOutputsTest, AClockBesideTheResultIsLeftOutAndTheResultCompared) {
  makeRunner(false);
  Subject subject = makeSubject("STAMPS");
  Buffer stamps = subject.workload.launches[0].buffers[1];
  stamps.name = "stamps";
  subject.workload.launches[0].buffers.push_back(stamps);
  subject.workload.launches[0].arguments.push_back(BufferArg{2, 0});
  LocalJudge local = make(std::move(subject), {});
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_FALSE(baseline->workload.launches[0].buffers[1].varies);
  EXPECT_TRUE(baseline->workload.launches[0].buffers[2].varies);
  const Trial good = judge(local, "STAMPS FAST");
  EXPECT_EQ(good.verdict, Verdict::Faster) << good.reason;
  EXPECT_TRUE(std::ranges::any_of(good.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.what.find("'stamps'") != std::string::npos;
  }));
  EXPECT_EQ(judge(local, "STAMPS WRONG FAST").verdict, Verdict::WrongResult);
}

TEST_F(LearnOutputsTest, ABaselineThatWritesNothingIsRefused) {
  expectRefused(make("NOOP").baseline(), "writes to none");
}

TEST_F(LearnOutputsTest, AWorkloadThatCannotTellWrongFromRightIsAGapOfEveryCandidate) {
  LocalJudge local = make("CONSTANT");
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "CONSTANT FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  EXPECT_TRUE(std::ranges::any_of(trial.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.what.find("same for different inputs") != std::string::npos;
  }));
  JudgeOptions options;
  options.assurance = AssurancePolicy::Strict;
  options.depth = Depth::Win;
  LocalJudge strict = make("CONSTANT", false, 0, options);
  ASSERT_TRUE(strict.baseline());
  EXPECT_EQ(judge(strict, "CONSTANT FAST").verdict, Verdict::Suspect);
}

TEST_F(LearnOutputsTest, LaunchesShareTheSecondsForTiming) {
  makeRunner(false);
  Subject subject = makeSubject();
  Launch small = subject.workload.launches[0];
  small.name = "small";
  small.weight = 0.01;
  subject.workload.launches[0].weight = 0.99;
  subject.workload.launches.push_back(small);
  JudgeOptions options;
  options.timing.budget = Duration(10);
  LocalJudge local = make(subject, options);
  ASSERT_TRUE(local.baseline());
  EXPECT_THAT(runner_->timingBudgets,
              testing::ElementsAre(testing::DoubleEq(9.9), testing::DoubleEq(1.5)));
}

TEST_F(LearnOutputsTest, ACapturedLaunchIsTimedWithTheCacheThatItHasInTheProgram) {
  makeRunner(false);
  const Subject subject = makeSubject();
  double cold = 0;
  for (const double inProgram : {0.0, 1.0, 0.8, 0.55}) { // of the time with a cold cache
    JudgeOptions options;
    if (inProgram > 0)
      options.programSeconds[subject.workload.launches[0].name] = inProgram * cold;
    LocalJudge local = make(subject, options);
    const auto baseline = local.baseline();
    ASSERT_TRUE(baseline) << baseline.error().what;
    const LaunchTiming &timing = baseline->trial.timings.at(0);
    EXPECT_EQ(timing.cacheMode, inProgram == 0.55 ? CacheMode::Warm : CacheMode::Cold) << inProgram;
    const Trial trial = judge(local, "FAST");
    EXPECT_EQ(trial.timings.at(0).cacheMode, timing.cacheMode);
    cold = std::max(cold, timing.baselineSeconds);
  }
  // Unless the user says which.
  for (const CacheMode wanted : {CacheMode::Cold, CacheMode::Warm}) {
    JudgeOptions options;
    options.cacheMode = wanted;
    options.programSeconds[subject.workload.launches[0].name] =
        (wanted == CacheMode::Cold ? 0.55 : 1.0) * cold;
    LocalJudge local = make(subject, options);
    const auto baseline = local.baseline();
    ASSERT_TRUE(baseline) << baseline.error().what;
    EXPECT_EQ(baseline->trial.timings.at(0).cacheMode, wanted);
  }
}

TEST_F(LearnOutputsTest, WhatAKernelDeclaresCountsBesideDynamicSharedMemory) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  Candidate candidate = candidateWith("FAST SHARED");
  candidate.launch.sharedBytes = "20480";
  auto trial = local.judge(candidate, Purpose::Search);
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->verdict, Verdict::RunFailed);
  EXPECT_NE(trial->reason.find("cudaFuncSetAttribute"), std::string::npos) << trial->reason;
  candidate.launch.largeShared = true; // it asks for it
  candidate.title = "with the attribute";
  trial = local.judge(candidate, Purpose::Confirmation);
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->verdict, Verdict::Faster) << trial->reason;
  EXPECT_EQ(runner_->prepared, JudgeOptions().processes) << "started ahead of the timing";
}

TEST_F(LearnOutputsTest, WhatAConfirmationWillCompileIsCompiledOnceThereIsAWinner) {
  using namespace std::chrono_literals;
  depth_ = Depth::Search;
  hasEmulated_ = true;
  CoveragePoint mark;
  mark.what = "`i < n` is false";
  frontend_.reach.marks = {mark};
  frontend_.mutantSet.mutants.resize(2);
  LocalJudge local = make("kernel", false, 2);
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "SLOW").verdict, Verdict::Slower);
  EXPECT_EQ(toolchain_.builds, 2);
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
  // The candidate; for coverage the original and the candidate; the mutants.
  const auto isDone = [&] { return toolchain_.builds == 2 + 1 + 2 + 2 && emulator_.builds == 2; };
  for (int i = 0; i < 1000 && !isDone(); ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(isDone()) << toolchain_.builds << " and " << emulator_.builds;
  EXPECT_EQ(opened_, 0);
}

} // namespace
