// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using BaselineTest = JudgeFixture;

void expectRefused(const Result<Baseline> &baseline, const char *word) {
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().code, ErrorCode::BaselineFailed);
  EXPECT_NE(baseline.error().what.find(word), std::string::npos) << baseline.error().what;
  EXPECT_EQ(baseline.error().where, "scale.cu:7");
}

TEST_F(BaselineTest, TheBaselineIsMeasuredAndItsPureOutputFound) {
  LocalJudge local = make();
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(baseline->trial.verdict, Verdict::Same);
  ASSERT_EQ(baseline->trial.timings.size(), 1u);
  EXPECT_NEAR(baseline->trial.timings[0].baselineSeconds, 1e-4, 1e-6);
  EXPECT_TRUE(local.subject().workload.launches[0].buffers[1].output);
}

TEST_F(BaselineTest, EachLaunchOfTheBaselineIsProfiledOnceOnAModelledDevice) {
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(runner_->profiles, 1);
}

TEST_F(BaselineTest, ABaselineThatDoesNotBuildIsRefused) {
  expectRefused(make("NOBUILD").baseline(), "build");
}

TEST_F(BaselineTest, ABaselineThatFaultsIsRefused) {
  expectRefused(make("FAULT").baseline(), "fails");
}

TEST_F(BaselineTest, ABaselineThatDoesNotRepeatIsRefused) {
  expectRefused(make("FLAKY").baseline(), "repeat");
}

TEST_F(BaselineTest, ABaselineThatWritesNothingIsRefused) {
  expectRefused(make("NOOP").baseline(), "writes to none");
}

TEST_F(BaselineTest, AWorkloadThatCannotTellWrongFromRightIsRefused) {
  expectRefused(make("CONSTANT").baseline(), "same for different inputs");
}

} // namespace
