// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using CoverageCheckTest = JudgeFixture;

JudgeOptions strictly() {
  JudgeOptions options;
  options.assurance = AssurancePolicy::Strict;
  return options;
}

TEST_F(CoverageCheckTest, WhatNoLaunchMakesACandidateDoIsNotVerified) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 2;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}, {}, true, true},
                           {1, 3, "`n == 77` is false", {"!$2 == 77"}, {}, true, true}};
  LocalJudge local = make("kernel", true, 0, strictly());
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "another").verdict, Verdict::Same);
  const Trial rare = judge(local, "RARE another");
  EXPECT_EQ(rare.verdict, Verdict::Suspect);
  EXPECT_EQ(rare.check, CheckId::Coverage);
  EXPECT_NE(rare.reason.find("`n == 77` is true at slice.cu:3"), std::string::npos) << rare.reason;
  EXPECT_EQ(rare.reason.find("is false"), std::string::npos) << rare.reason;
  // The original's own is no news.
  LocalJudge other = make("RARE kernel", true, 0, strictly());
  ASSERT_TRUE(other.baseline());
  EXPECT_EQ(judge(other, "RARE another").verdict, Verdict::Same);
}

TEST_F(CoverageCheckTest, ASpecialCaseThatNothingReachesIsAGapByDefault) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}, {}, true, true}};
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.baseline());
  const Trial rare = judge(local, "RARE FAST");
  EXPECT_EQ(rare.verdict, Verdict::Faster) << rare.reason;
  EXPECT_EQ(rare.assurance.level, AssuranceLevel::Partial);
  EXPECT_TRUE(std::ranges::any_of(rare.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.what.find("`n == 77` is true at slice.cu:3") != std::string::npos;
  }));
}

TEST_F(CoverageCheckTest, ALaunchWithTheNumberOfAConditionReachesIt) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  JudgeOptions options;
  options.depth = Depth::Trial;
  makeRunner(false);
  LocalJudge local = make(declaredSubject(), options);
  ASSERT_TRUE(local.baseline());
  CoveragePoint special{0, 3, "`n == 250001` is true", {"$3 == 250001"}, {}, true, true};
  special.numbers = {250001};
  special.params = {3};
  frontend_.reach.marks = {special};
  const Trial good = judge(local, "LONGER FAST");
  EXPECT_EQ(good.verdict, Verdict::Faster) << good.reason;
  EXPECT_NE(recordOf(good, CheckId::Coverage)->detail.find("n = 250001"), std::string::npos)
      << recordOf(good, CheckId::Coverage)->detail;
  const Trial wrong = judge(local, "LONGER BADLONG FAST");
  EXPECT_EQ(wrong.verdict, Verdict::WrongResult) << wrong.reason;
  EXPECT_NE(wrong.reason.find("n = 500003"), std::string::npos) << "far beyond: " << wrong.reason;
  // What a candidate promises its compiler must hold where the original runs.
  frontend_.reach.marks[0].assumed = true;
  const Trial promised = judge(local, "LONGER FAST 2");
  EXPECT_EQ(promised.verdict, Verdict::Suspect) << promised.reason;
  EXPECT_NE(promised.reason.find("promises"), std::string::npos) << promised.reason;
}

TEST_F(CoverageCheckTest, ACaseThatOnlyTheOriginalHasIsReachedForEachCandidate) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  CoveragePoint special{0, 3, "`n == 250001` is true", {"$3 == 250001"}, {}, true, true};
  special.numbers = {250001};
  special.params = {3};
  frontend_.reach.marks = {special};
  JudgeOptions options;
  options.depth = Depth::Trial;
  makeRunner(false);
  Subject subject = declaredSubject();
  subject.sliceText = "LONGER kernel";
  LocalJudge local = make(std::move(subject), options);
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
  const Trial wrong = judge(local, "FAST BADLONG"); // its own conditions all occur
  EXPECT_EQ(wrong.verdict, Verdict::WrongResult) << wrong.reason;
  EXPECT_NE(wrong.reason.find("n = 500003"), std::string::npos) << wrong.reason;
}

TEST_F(CoverageCheckTest, WhatIsReachedIsAskedOfWinnersOnAGpuAndOfNoMutant) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}}};
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "RARE").verdict, Verdict::Same);
}

/// A loop for longer rows: no number of its own decides it.
CoveragePoint tail() { return {0, 9, "`i < n` is true", {"(4 + threadIdx.0) < $2"}, {"loop"}}; }

TEST_F(CoverageCheckTest, ABranchThatFollowsFromSizesIsNamedAndNotPunished) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  for (const AssurancePolicy policy : {AssurancePolicy::Standard, AssurancePolicy::Strict}) {
    JudgeOptions options;
    options.assurance = policy;
    frontend_.reach.marks = {};
    LocalJudge local = make("kernel", true, 0, options);
    ASSERT_TRUE(local.baseline());
    frontend_.reach.marks = {tail()};
    const Trial trial = judge(local, "RARE FAST");
    EXPECT_EQ(trial.verdict,
              policy == AssurancePolicy::Standard ? Verdict::Faster : Verdict::Suspect)
        << trial.reason;
    EXPECT_TRUE(std::ranges::any_of(trial.assurance.gaps, [](const AssuranceGap &gap) {
      return gap.check == CheckId::Coverage &&
             gap.what.find("`i < n` is true at slice.cu:9") != std::string::npos;
    }));
  }
}

TEST_F(CoverageCheckTest, ALargerLaunchReachesTheBranchAndVerifiesTheCandidate) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  JudgeOptions options;
  options.depth = Depth::Trial;
  makeRunner(false);
  LocalJudge local = make(declaredSubject(), options);
  ASSERT_TRUE(local.baseline());
  CoveragePoint special = tail();
  special.special = true; // reached, it needs no explanation
  frontend_.reach.marks = {special};
  const Trial good = judge(local, "LONGER FAST");
  EXPECT_EQ(good.verdict, Verdict::Faster) << good.reason;
  EXPECT_NE(recordOf(good, CheckId::Coverage)->detail.find("all 1 outcomes"), std::string::npos);
  EXPECT_NE(recordOf(good, CheckId::Coverage)->detail.find("derived for them"), std::string::npos);
  const Trial wrong = judge(local, "LONGER BADLONG FAST");
  EXPECT_EQ(wrong.verdict, Verdict::WrongResult) << wrong.reason;
  EXPECT_EQ(wrong.check, CheckId::Coverage);
}

TEST_F(CoverageCheckTest, AConditionOfTheOriginalIsNoNewsWhateverItsConstantIs) {
  frontend_.reach.variable = "coverage";
  frontend_.reach.bytes = 1;
  const auto mark = [](const char *name) {
    return CoveragePoint{0, 3, "`n > LIMIT` is true", {name}, {"code"}, true, true};
  };
  frontend_.reach.marks = {mark("!$2 < 65")};
  LocalJudge local = make("kernel", true, 0, strictly());
  ASSERT_TRUE(local.baseline());
  // The same, which this candidate's block makes impossible; then with another constant.
  Candidate wide = candidateWith("RARE 1");
  wide.launch.block = {{"128", "1", "1"}};
  const auto trial = local.judge(wide, Purpose::Search);
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->verdict, Verdict::Same) << trial->reason;
  frontend_.reach.marks = {mark("!$2 < 5001")};
  EXPECT_EQ(judge(local, "RARE 2").verdict, Verdict::Same);
  frontend_.reach.marks = {mark("!(5000 - $2) < 65")}; // another value by the same name
  EXPECT_EQ(judge(local, "RARE 3").verdict, Verdict::Suspect);
}

} // namespace
