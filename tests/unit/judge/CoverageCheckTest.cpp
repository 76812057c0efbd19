// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using CoverageCheckTest = JudgeFixture;

TEST_F(CoverageCheckTest, WhatNoLaunchMakesACandidateDoIsNotVerified) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 2;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}},
                           {1, 3, "`n == 77` is false", {"!$2 == 77"}}};
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
  const Trial rare = judge(local, "RARE FAST");
  EXPECT_EQ(rare.verdict, Verdict::Suspect);
  EXPECT_EQ(rare.check, "coverage");
  EXPECT_NE(rare.reason.find("`n == 77` is true at slice.cu:3"), std::string::npos) << rare.reason;
  EXPECT_EQ(rare.reason.find("is false"), std::string::npos) << rare.reason;
  // The original's own is no news.
  LocalJudge other = make("RARE kernel", true);
  ASSERT_TRUE(other.baseline());
  EXPECT_EQ(judge(other, "RARE FAST").verdict, Verdict::Faster);
}

TEST_F(CoverageCheckTest, WhatIsReachedIsAskedOfWinnersOnAGpuAndOfNoMutant) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}}};
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "RARE").verdict, Verdict::Same);
}

} // namespace
