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
  EXPECT_FALSE(local.adequacy().isTooWeak()); // the one that is left has an excuse
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
}

TEST_F(WorkloadAdequacyTest, NoWinIsClaimedOnAWorkloadThatIsTooWeak) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("other")};
  LocalJudge local = make();
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline);
  ASSERT_FALSE(baseline->trial.findings.empty());
  EXPECT_EQ(baseline->trial.findings.back().id, "mutants");
  EXPECT_EQ(baseline->trial.findings.back().severity, Severity::Warning);
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Suspect);
  EXPECT_EQ(trial.check, "mutants");
  EXPECT_NE(trial.reason.find("other"), std::string::npos) << trial.reason;
  EXPECT_FALSE(local.adequacy().remedy().empty());

  JudgeOptions options;
  options.acceptWeakWorkload = true;
  LocalJudge lenient = make("kernel", false, 0, options);
  ASSERT_TRUE(lenient.baseline());
  EXPECT_EQ(judge(lenient, "FAST").verdict, Verdict::Faster);
}

TEST_F(WorkloadAdequacyTest, WhereOnlyManyInputsShowAMistakeAGainIsVerifiedOnMany) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("SELDOM")};
  JudgeOptions options;
  options.cache = folder_.path() / "cache";
  for (const char *run : {"judged", "recalled"}) {
    LocalJudge local = make("kernel", false, 0, options);
    ASSERT_TRUE(local.baseline());
    EXPECT_FALSE(local.adequacy().isTooWeak()) << run;
    EXPECT_EQ(local.adequacy().draws, 5) << run;
    const Trial honest = judge(local, "FAST");
    EXPECT_EQ(honest.verdict, Verdict::Faster) << honest.reason;
    EXPECT_TRUE(std::any_of(honest.findings.begin(), honest.findings.end(),
                            [](const Finding &finding) { return finding.id == "escalated"; }));
    EXPECT_EQ(judge(local, "FAST SELDOM").verdict, Verdict::WrongResult) << run;
  }
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
  EXPECT_TRUE(second.adequacy().isTooWeak());
  frontend_.mutantSet.mutants.pop_back();
  LocalJudge third = make("kernel", false, 0, options);
  ASSERT_TRUE(third.baseline());
  EXPECT_FALSE(third.adequacy().isTooWeak());
}

} // namespace
