// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using WorkloadAdequacyTest = JudgeFixture;

Mutant mutant(const std::string &text, const std::string &excuse = "") {
  Mutant result;
  result.op = "comparison";
  result.title = text;
  result.mayBeEqual = excuse;
  result.sliceText = text;
  return result;
}

TEST_F(WorkloadAdequacyTest, AWrongVersionThatAGpuDoesNotShowIsNoticedByTheEmulatedDevice) {
  Mutant mutant;
  mutant.sliceText = "RACES";
  mutant.title = "a barrier removed";
  frontend_.mutantSet.mutants = {mutant};
  LocalJudge alone = make();
  ASSERT_TRUE(alone.baseline());
  EXPECT_EQ(alone.adequacy().noticed, 0u);
  hasEmulated_ = true;
  LocalJudge beside = make();
  ASSERT_TRUE(beside.baseline());
  EXPECT_EQ(beside.adequacy().noticed, 1u);
}

TEST_F(WorkloadAdequacyTest, AWorkloadThatNoticesWrongKernelsIsStrongEnough) {
  frontend_.mutantSet.mutants = {mutant("WRONG 1"), mutant("NAN 2"),
                                 mutant("kernel// the same program"), mutant("NOBUILD"),
                                 mutant("other", "where n is a multiple of 4")};
  LocalJudge local = make();
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(local.adequacy().tried, 3u);
  EXPECT_EQ(local.adequacy().noticed, 2u);
  EXPECT_TRUE(local.adequacy().unexplained().empty()); // the one that is left has an excuse
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
}

TEST_F(WorkloadAdequacyTest, AWrongVersionThatHangsCostsLessThanACandidate) {
  frontend_.mutantSet.mutants = {mutant("HANG")};
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(local.adequacy().noticed, 1u);
  ASSERT_TRUE(runner_->limit);
  const double ofMutant = runner_->limit->count();
  EXPECT_EQ(judge(local, "FAST HANG").verdict, Verdict::TimedOut);
  EXPECT_GT(runner_->limit->count(), ofMutant + 2);
}

TEST_F(WorkloadAdequacyTest, OnAGpuASearchLeavesItForTheFirstWinner) {
  depth_ = Depth::Search;
  frontend_.mutantSet.mutants = {mutant("WRONG 1"), mutant("other")};
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial found = judge(local, "FAST");
  EXPECT_EQ(found.verdict, Verdict::Faster) << found.reason;
  for (const CheckId check : {CheckId::Repeat, CheckId::Reference, CheckId::Coverage,
                              CheckId::Emulated, CheckId::Mutants}) {
    ASSERT_TRUE(recordOf(found, check)) << check;
    EXPECT_EQ(recordOf(found, check)->state, CheckState::NotRun) << check;
  }
  EXPECT_EQ(local.adequacy().tried, 0U);
  const auto confirmed = local.judge(candidateWith("FAST"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster) << confirmed->reason;
  EXPECT_TRUE(confirmed->passed(CheckId::Repeat));
  EXPECT_THAT(recordOf(*confirmed, CheckId::Mutants)->detail,
              testing::HasSubstr("not noticed: other"));
  EXPECT_EQ(local.adequacy().noticed, 1U);
  const int builds = toolchain_.builds;
  ASSERT_TRUE(local.judge(candidateWith("FAST"), Purpose::Confirmation));
  EXPECT_EQ(toolchain_.builds, builds) << "it is learned once";
}

TEST_F(WorkloadAdequacyTest, OnAGpuAWinnerIsRefusedForWhatTheSearchDidNotAsk) {
  depth_ = Depth::Search;
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "WRONG_AT_repeat FAST").verdict, Verdict::Faster);
  const auto confirmed = local.judge(candidateWith("WRONG_AT_repeat FAST"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::WrongResult);
  EXPECT_EQ(confirmed->check, CheckId::Repeat);
}

TEST_F(WorkloadAdequacyTest, AMutantThatNothingTellsIsALineOfTheReportAndNoWinUnderStrict) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("other")};
  LocalJudge local = make();
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline);
  ASSERT_FALSE(baseline->trial.findings.empty());
  EXPECT_EQ(baseline->trial.findings.back().id, "mutants");
  EXPECT_EQ(baseline->trial.findings.back().severity, Severity::Warning);
  EXPECT_FALSE(local.adequacy().remedy().empty());
  const Trial taken = judge(local, "FAST");
  EXPECT_EQ(taken.verdict, Verdict::Faster) << taken.reason;
  EXPECT_EQ(taken.assurance.level, AssuranceLevel::Partial);
  const auto gap =
      std::find_if(taken.assurance.gaps.begin(), taken.assurance.gaps.end(),
                   [](const AssuranceGap &one) { return one.check == CheckId::Mutants; });
  ASSERT_NE(gap, taken.assurance.gaps.end());
  EXPECT_NE(gap->what.find("not noticed: other"), std::string::npos) << gap->what;

  JudgeOptions options;
  options.assurance = AssurancePolicy::Strict;
  LocalJudge strict = make("kernel", false, 0, options);
  ASSERT_TRUE(strict.baseline());
  const Trial trial = judge(strict, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Suspect);
  EXPECT_EQ(trial.check, CheckId::Mutants);
  EXPECT_NE(trial.reason.find("other"), std::string::npos) << trial.reason;
}

TEST_F(WorkloadAdequacyTest, ALaunchThatTellsAMutantIsAddedForCandidates) {
  frontend_.mutantSet.mutants = {mutant("BADLONG")};
  JudgeOptions options;
  options.cache = folder_.path() / "cache";
  options.mutantSeconds = 60; // of a machine that may be busy
  for (const char *run : {"judged", "recalled"}) {
    makeRunner(false);
    LocalJudge local = make(declaredSubject(), options);
    ASSERT_TRUE(local.baseline());
    EXPECT_TRUE(local.adequacy().unexplained().empty()) << run;
    ASSERT_EQ(local.adequacy().additions.size(), 1u) << run;
    EXPECT_EQ(local.adequacy().additions[0].kind, AdditionKind::Larger);
    EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster) << run;
    const Trial wrong = judge(local, "FAST BADLONG");
    EXPECT_EQ(wrong.verdict, Verdict::WrongResult) << run;
    EXPECT_EQ(wrong.check, CheckId::Sizes) << wrong.reason;
  }
  // Without such a mutant nobody looks so far.
  frontend_.mutantSet.mutants.clear();
  makeRunner(false);
  LocalJudge local = make(declaredSubject(), {});
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "FAST BADLONG").verdict, Verdict::Faster);
}

TEST_F(WorkloadAdequacyTest, WhereOnlyManyInputsShowAMistakeAGainIsVerifiedOnMany) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("SELDOM")};
  JudgeOptions options;
  options.cache = folder_.path() / "cache";
  for (const char *run : {"judged", "recalled"}) {
    LocalJudge local = make("kernel", false, 0, options);
    ASSERT_TRUE(local.baseline());
    EXPECT_TRUE(local.adequacy().unexplained().empty()) << run;
    EXPECT_EQ(local.adequacy().draws, 5) << run;
    // The first look only says that it is needed: a win is confirmed, and then verified on many.
    const auto confirm = [&](const std::string &text) {
      const auto confirmed = local.judge(judge(local, text).candidate, Purpose::Confirmation);
      EXPECT_TRUE(confirmed);
      return confirmed.value_or(Trial());
    };
    const Trial honest = confirm("FAST");
    EXPECT_EQ(honest.verdict, Verdict::Faster) << honest.reason;
    EXPECT_TRUE(std::any_of(honest.findings.begin(), honest.findings.end(),
                            [](const Finding &finding) { return finding.id == "escalated"; }));
    EXPECT_EQ(confirm("FAST SELDOM").verdict, Verdict::WrongResult) << run;
  }
}

TEST_F(WorkloadAdequacyTest, WhatThereWasNoTimeForIsAGapAndIsTriedByAnotherRun) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("WRONG 2")};
  JudgeOptions options;
  options.cache = folder_.path() / "cache";
  options.mutantSeconds = 0;
  LocalJudge hasty = make("kernel", false, 0, options);
  ASSERT_TRUE(hasty.baseline());
  EXPECT_EQ(hasty.adequacy().untried, 2u);
  EXPECT_FALSE(hasty.adequacy().isConclusive());
  const Trial taken = judge(hasty, "FAST");
  EXPECT_EQ(taken.verdict, Verdict::Faster) << taken.reason;
  EXPECT_EQ(taken.assurance.level, AssuranceLevel::Partial);
  EXPECT_TRUE(std::ranges::any_of(taken.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.check == CheckId::Mutants && gap.what.find("2 more were not tried") != gap.what.npos;
  }));

  options.assurance = AssurancePolicy::Strict; // takes its time
  LocalJudge strict = make("kernel", false, 0, options);
  ASSERT_TRUE(strict.baseline());
  EXPECT_EQ(strict.adequacy().untried, 0u);
  EXPECT_EQ(strict.adequacy().noticed, 2u);
}

TEST_F(WorkloadAdequacyTest, AMutationTestIsKeptFromRunToRun) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("other")};
  JudgeOptions options;
  options.cache = folder_.path() / "cache";
  LocalJudge first = make("kernel", false, 0, options);
  ASSERT_TRUE(first.baseline());
  const int builds = toolchain_.builds;
  LocalJudge second = make("kernel", false, 0, options);
  ASSERT_TRUE(second.baseline());
  EXPECT_EQ(toolchain_.builds, builds + 1); // the baseline alone
  EXPECT_FALSE(second.adequacy().unexplained().empty());
  frontend_.mutantSet.mutants.pop_back();
  LocalJudge third = make("kernel", false, 0, options);
  ASSERT_TRUE(third.baseline());
  EXPECT_TRUE(third.adequacy().unexplained().empty());
}

} // namespace
