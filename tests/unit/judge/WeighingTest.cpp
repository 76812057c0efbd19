// SPDX-License-Identifier: Apache-2.0
// Before a candidate is refused, the original is asked again.
#include "driver/judge/replays/DerivedReplays.h"
#include "unit/judge/JudgeFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using testing::Contains;
using testing::HasSubstr;

using WeighingTest = JudgeFixture;

TEST_F(WeighingTest, WhatTheOriginalShowsOnlyLaterIsAllowedThen) {
  LocalJudge local = make("NOISY");
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  ASSERT_LT(baseline->workload.launches[0].buffers[1].spread, 0.015);
  runner_->jumpsEvery = 5; // by 0.02
  const Trial same = judge(local, "NOISY FAST");
  EXPECT_EQ(same.verdict, Verdict::Faster) << same.reason;
  EXPECT_THAT(inLines(same.assurance), Contains(HasSubstr("further apart than was known")));
  EXPECT_EQ(judge(local, "NOISY FAST JUMPS").verdict, Verdict::WrongResult) << "by 1";
  EXPECT_EQ(judge(local, "NOISY FAST WRONG").verdict, Verdict::WrongResult);
}

TEST_F(WeighingTest, ItIsAllowedHoweverFarItGetsAndNoFurther) {
  for (const double far : {3., 30.}) { // about a tenth of the usual element, and as much as it
    LocalJudge local = make("NOISY");
    ASSERT_TRUE(local.baseline());
    runner_->jumpsEvery = 5;
    runner_->jumpsBy = far;
    const Trial same = judge(local, "NOISY FAST");
    EXPECT_EQ(same.verdict, Verdict::Faster) << same.reason;
    EXPECT_EQ(judge(local, "NOISY FAST NAN").verdict, Verdict::WrongResult);
    EXPECT_EQ(judge(local, "NOISY FAST FLIES").verdict, Verdict::WrongResult) << "by 100";
  }
}

TEST_F(WeighingTest, OtherOrdersShowMoreThanTheUsualOne) {
  LocalJudge local = make("SWAYS");
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(baseline->workload.launches[0].buffers[1].spread, 0) << "it repeats each bit";
  const Trial other = judge(local, "SWAYS LEANS FAST");
  EXPECT_EQ(other.verdict, Verdict::Faster) << other.reason;
  EXPECT_EQ(judge(local, "SWAYS JUMPS FAST").verdict, Verdict::WrongResult);
  EXPECT_EQ(judge(local, "SWAYS FAST WRONG").verdict, Verdict::WrongResult);
  LocalJudge steady = make("kernel");
  ASSERT_TRUE(steady.baseline());
  EXPECT_EQ(judge(steady, "LEANS FAST").verdict, Verdict::WrongResult)
      << "no order of the original gives that";
}

TEST_F(WeighingTest, WhereTheOriginalReadsWhatNobodyWroteACandidateMay) {
  makeRunner(false);
  Subject subject = declaredSubject();
  subject.sliceText += " BEYOND";
  LocalJudge local = make(std::move(subject), {});
  ASSERT_TRUE(local.baseline());
  const Trial right = judge(local, "FAST BEYOND");
  EXPECT_EQ(right.verdict, Verdict::Faster) << right.reason;
  const Trial next = judge(local, "FAST BEYOND next");
  ASSERT_TRUE(recordOf(next, CheckId::Contents)) << next.reason;
  EXPECT_THAT(recordOf(next, CheckId::Contents)->detail,
              HasSubstr("the original does not repeat its own result on it: out[5] is"));
  EXPECT_EQ(judge(local, "FAST BEYOND WRONG_AT_contents").verdict, Verdict::WrongResult)
      << "on inputs on which the original repeats its result";
  LocalJudge careful = make(declaredSubject(), {});
  ASSERT_TRUE(careful.baseline());
  const Trial beyond = judge(careful, "FAST BEYOND");
  EXPECT_EQ(beyond.verdict, Verdict::WrongResult);
  EXPECT_EQ(beyond.check, CheckId::Contents) << beyond.reason;
}

TEST_F(WeighingTest, TheOriginalIsAskedOnceForALaunch) {
  const auto ask = [&](const char *kernel, int &runs) {
    makeRunner(false);
    CheckContext bench(*runner_, makeSubject(), 42, {});
    loadBaseline(bench);
    EXPECT_TRUE(writeFileAtomically(folder_.path() / "other", kernel));
    bench.baseline().module = runner_->load(folder_.path() / "other", "")->id;
    const Launch &launch = bench.baseline().launches[0];
    const auto expected = bench.expect(launch, bench.options(42, kPoison, 0, "expected"));
    DerivedReplays replays;
    const int before = runner_->runs;
    const auto first = replays.weighing().askAgain(bench, launch, *expected, {});
    runs = runner_->runs - before;
    EXPECT_EQ(*replays.weighing().askAgain(bench, launch, *expected, {}), *first);
    EXPECT_EQ(runner_->runs - before, runs);
    return **first;
  };
  int few = 0, many = 0;
  const AskedAgain steady = ask("kernel", few), noisy = ask("NOISY", many);
  EXPECT_TRUE(steady.isSame);
  EXPECT_EQ(steady.spread[1], 0);
  EXPECT_FALSE(noisy.isSame);
  EXPECT_GE(noisy.spread[1], 0.006);
  EXPECT_EQ(steady.why + noisy.why, "");
  EXPECT_EQ(few, 2) << "it repeats each bit";
  EXPECT_GE(many, 20);
  EXPECT_THAT(ask("POISONED", many).why, HasSubstr("does not repeat its own result on it: out[5]"));
}

} // namespace
