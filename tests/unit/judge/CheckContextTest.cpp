// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/context/CheckContext.h"
#include "unit/judge/JudgeFixture.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

class CheckContextTest : public JudgeFixture {
protected:
  CheckContext makeContext() {
    const auto module = folder_.path() / "module";
    EXPECT_TRUE(writeFileAtomically(module, "kernel"));
    CheckContext context(*runner_, makeSubject(), 7, CheckSwitches());
    const auto loaded = runner_->load(module, "");
    EXPECT_TRUE(loaded);
    context.baseline().module = loaded->id;
    return context;
  }
};

TEST_F(CheckContextTest, JudgesOnOneRunnerKeepTheirFilesApart) {
  makeRunner(false);
  CheckContext one = makeContext(), other = makeContext();
  const Launch &launch = one.subject().workload.launches[0];
  const auto first = one.expect(launch, one.options(1, kPoison, 0, "expected"));
  ASSERT_TRUE(first) << first.error().what;
  const auto before = readFile(first->buffers[1]);
  const auto second = other.expect(launch, other.options(2, kPoison, 0, "expected"));
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_NE(first->buffers[1], second->buffers[1]);
  EXPECT_NE(*before, *readFile(second->buffers[1])) << "other inputs";
  EXPECT_EQ(*before, *readFile(first->buffers[1]));
}

TEST_F(CheckContextTest, WhatMayHangGetsAsLongAsItShouldTakeSeveralTimesOver) {
  makeRunner(false);
  CheckContext context = makeContext();
  const Launch &launch = context.subject().workload.launches[0];
  const RunOptions options = context.options(1, kPoison, 0, "run");
  EXPECT_FALSE(options.limit) << "the runner's own, generous one";
  EXPECT_FALSE(context.forTrying(options, 0).limit) << "it is not known what it should take";
  EXPECT_LT(context.forTrying(options, 0.5).limit->count(), 5);
  auto expected = context.expect(launch, options);
  ASSERT_TRUE(expected);
  expected->seconds = 0.5;
  Trial trial;
  ASSERT_TRUE(
      context.compare(context.baseline(), launch, *expected, options, CheckId::Outputs, trial));
  ASSERT_TRUE(runner_->limit);
  EXPECT_GT(runner_->limit->count(), 20 * 0.5);
  EXPECT_LT(runner_->limit->count(), 15);
  makeRunner(true);
  EXPECT_FALSE(makeContext().forTrying(options, 0.5).limit) << "instructions are limited there";
}

TEST_F(CheckContextTest, ThreadsWithoutWorkRaiseTheLimitOfInstructions) {
  makeRunner(true);
  CheckContext context = makeContext();
  Launch launch = context.subject().workload.launches[0];
  RunOptions options;
  EXPECT_EQ(context.forCandidate(options, launch).instructionLimit, 0u) << "none is none";
  options.instructionLimit = 1000;
  launch.grid = {100, 1, 1};
  launch.block = {256, 1, 1};
  const std::uint64_t some = context.forCandidate(options, launch).instructionLimit;
  EXPECT_GE(some, 1000u + 100 * 256 * 100);
  launch.grid = {1u << 30, 1, 1};
  EXPECT_LT(context.forCandidate(options, launch).instructionLimit, 1'000'000'000u)
      << "a hang has to end";
}

} // namespace
