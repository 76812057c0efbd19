// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using SameCodeTest = JudgeFixture;

TEST_F(SameCodeTest, TheSameMachineCodeIsADuplicateOfTheBaselineOrOfATrial) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial comment = judge(local, "kernel// only a comment changed");
  EXPECT_EQ(comment.verdict, Verdict::Duplicate);
  EXPECT_NE(comment.reason.find("baseline"), std::string::npos);
  judge(local, "FAST");
  EXPECT_EQ(judge(local, "FAST// again").verdict, Verdict::Duplicate);
}

TEST_F(SameCodeTest, ALaunchThatIsTheSameOnlyForTheseArgumentsIsNoDuplicate) {
  makeRunner(false);
  LocalJudge local = make(declaredSubject(), {});
  ASSERT_TRUE(local.baseline());
  const auto trial = [&](const char *text, const char *grid) {
    Candidate candidate = candidateWith(text);
    candidate.launch.grid = {grid, "1", "1"};
    return local.judge(candidate, Purpose::Search).value().verdict;
  };
  EXPECT_EQ(trial("FAST", "(n + 63) / 64 + 1"), Verdict::Faster);
  EXPECT_EQ(trial("FAST// again", "(n + 63) / 64 + 1"), Verdict::Duplicate);
  EXPECT_EQ(trial("FAST// fixed", "(n + 63) / 64 + (n > 1)"), Verdict::Faster);
}

TEST_F(SameCodeTest, CodeOfAnEarlierRunIsRemembered) {
  LocalJudge first = make();
  ASSERT_TRUE(first.baseline());
  const Trial trial = judge(first, "FAST");
  LocalJudge second = make();
  ASSERT_TRUE(second.baseline());
  second.remember(trial);
  EXPECT_EQ(judge(second, "FAST// again").verdict, Verdict::Duplicate);
}

} // namespace
