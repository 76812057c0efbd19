// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using EmulatedJudgeTest = JudgeFixture;

TEST_F(EmulatedJudgeTest, WhatAGpuDoesNotShowTheEmulatedDeviceDoes) {
  hasEmulated_ = true;
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial racy = judge(local, "RACES");
  EXPECT_EQ(racy.verdict, Verdict::RunFailed);
  EXPECT_EQ(racy.check, CheckId::Emulated);
  EXPECT_EQ(racy.reason.rfind("on the emulated device: ", 0), 0u) << racy.reason;
  const Trial fast = judge(local, "FAST");
  EXPECT_EQ(fast.verdict, Verdict::Faster);
  ASSERT_TRUE(recordOf(fast, CheckId::Emulated));
  EXPECT_EQ(recordOf(fast, CheckId::Emulated)->state, CheckState::Passed)
      << recordOf(fast, CheckId::Emulated)->detail;
  EXPECT_EQ(opened_, 1);
}

TEST_F(EmulatedJudgeTest, ACandidateMayReadTheUnsetSharedMemoryThatTheOriginalReads) {
  hasEmulated_ = true;
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make("BORDER kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial fast = judge(local, "BORDER FAST");
  EXPECT_EQ(fast.verdict, Verdict::Faster) << fast.reason;
  ASSERT_TRUE(recordOf(fast, CheckId::Emulated));
  EXPECT_EQ(recordOf(fast, CheckId::Emulated)->state, CheckState::Passed)
      << recordOf(fast, CheckId::Emulated)->detail;
}

TEST_F(EmulatedJudgeTest, TheEmulatedDeviceIsAskedOfWinners) {
  hasEmulated_ = true;
  depth_ = Depth::Search;
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "RACES").verdict, Verdict::Same);
  const Trial first = judge(local, "RACES FAST");
  EXPECT_EQ(first.verdict, Verdict::Faster);
  EXPECT_EQ(opened_, 0);
  const auto confirmed = local.judge(first.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::RunFailed);
  EXPECT_EQ(confirmed->check, CheckId::Emulated);
}

TEST_F(EmulatedJudgeTest, WhereTheOriginalIsNoKernelForTheEmulatedDeviceItSaysNothing) {
  hasEmulated_ = true;
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make("RACES kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial fast = judge(local, "RACES FAST");
  EXPECT_EQ(fast.verdict, Verdict::Faster);
  ASSERT_TRUE(recordOf(fast, CheckId::Emulated));
  EXPECT_EQ(recordOf(fast, CheckId::Emulated)->state, CheckState::NotRun);
  EXPECT_NE(recordOf(fast, CheckId::Emulated)->detail.find("the original itself"),
            std::string::npos);
}

} // namespace
