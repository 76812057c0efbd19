// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

namespace kopt {
namespace {

using DeviceJudgeTest = fakes::JudgeFixture;

TEST_F(DeviceJudgeTest, OnlyTheBaselineAndConfirmationsHaveHotLines) {
  LocalJudge local = make("kernel", true);
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->trial.hotLines.source, LineSource::Emulated);
  EXPECT_EQ(baseline->trial.hotLines.instructions, 120);
  ASSERT_EQ(baseline->trial.hotLines.lines.size(), 1u);
  EXPECT_EQ(baseline->trial.hotLines.lines[0].text, "kernel");
  const Trial fast = judge(local, "FAST");
  EXPECT_EQ(fast.hotLines.source, LineSource::None);
  const auto confirmed = local.judge(fast.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  ASSERT_EQ(confirmed->hotLines.lines.size(), 1u);
  EXPECT_EQ(confirmed->hotLines.lines[0].text, "FAST");
}

TEST_F(DeviceJudgeTest, OnAGpuHotLinesAreThoseOfTheMachineCode) {
  std::vector<std::string> read;
  lines_ = [&](const std::filesystem::path &module) -> Result<std::vector<LineCost>> {
    read.push_back(module.string());
    if (read.size() > 1)
      return makeError(ErrorCode::Environment, "nvdisasm was not found");
    return std::vector<LineCost>{{module.string() + ".cu", 1, 40, 0}};
  };
  ASSERT_TRUE(make().baseline());
  EXPECT_TRUE(read.empty()) << "no report shows the lines of a trial";
  depth_ = Depth::Search;
  LocalJudge local = make();
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline);
  const HotLines &hot = baseline->trial.hotLines;
  EXPECT_EQ(hot.source, LineSource::Code);
  EXPECT_EQ(hot.launch, ""); // nothing was executed
  ASSERT_EQ(hot.lines.size(), 1u);
  EXPECT_EQ(hot.lines[0].text, "kernel");
  const Trial fast = judge(local, "FAST");
  EXPECT_EQ(read.size(), 1u);
  const auto confirmed = local.judge(fast.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster); // a missing tool decides nothing
  EXPECT_EQ(confirmed->hotLines.missing, "nvdisasm was not found");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_NE(read[0], read[1]);
  JudgeOptions options;
  options.counters = false;
  LocalJudge quick = make("kernel", false, 0, options);
  ASSERT_TRUE(quick.baseline());
  EXPECT_EQ(read.size(), 2u);
}

TEST_F(DeviceJudgeTest, WhatIsConfirmedNextIsVerifiedThoroughlyOnce) {
  JudgeOptions options;
  options.confirmsNext = true;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial fast = judge(local, "FAST WRONG_AT_repeat");
  EXPECT_EQ(fast.verdict, Verdict::Faster);
  const auto confirmed = local.judge(fast.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::WrongResult);
  EXPECT_EQ(confirmed->check, CheckId::Repeat);
  const Trial slow = judge(local, "SLOW WRONG_AT_repeat"); // nobody confirms it
  EXPECT_EQ(slow.verdict, Verdict::WrongResult);
  EXPECT_EQ(slow.check, CheckId::Repeat);
  const Trial honest = judge(local, "SLOW");
  EXPECT_EQ(honest.verdict, Verdict::Slower);
  std::set<CheckId> names;
  for (const CheckRecord &record : honest.checks)
    EXPECT_TRUE(names.insert(record.check).second) << record.check << " is there twice";
  EXPECT_EQ(recordOf(honest, CheckId::Repeat)->state, CheckState::Passed);
}

TEST_F(DeviceJudgeTest, WhatOnlyTheConfirmationsChecksCanShowIsNotHeldAgainstAFirstLook) {
  JudgeOptions options;
  options.confirmsNext = true;
  options.assurance = AssurancePolicy::Strict;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial first = judge(local, "FLAG FAST");
  EXPECT_EQ(first.verdict, Verdict::Faster) << first.reason;
  const auto confirmed = local.judge(first.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Suspect) << "here it cannot, either";
  EXPECT_EQ(confirmed->check, CheckId::Obligations);
}

TEST_F(DeviceJudgeTest, WhatIsSlowerThanTheBestOfASearchIsNotVerifiedAtFullStrength) {
  const auto isEscalated = [](const Trial &trial) {
    return std::ranges::count(trial.findings, "escalated", &Finding::id) > 0;
  };
  depth_ = Depth::Look;
  JudgeOptions options;
  options.depth = Depth::Look;
  options.escalateAbove = 1.2;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  EXPECT_TRUE(isEscalated(judge(local, "QUICK")));
  EXPECT_TRUE(isEscalated(judge(local, "FAST")));
  const Trial behind = judge(local, "QUICK 2");
  EXPECT_EQ(behind.verdict, Verdict::Faster);
  EXPECT_FALSE(isEscalated(behind));
  EXPECT_EQ(judge(local, "QUICK WRONG_AT_fresh").verdict, Verdict::WrongResult);
  // Where it is the one to claim all the same, it goes through everything.
  const auto confirmed = local.judge(behind.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_TRUE(isEscalated(*confirmed));
  const Trial wrong = judge(local, "QUICK WRONG_AT_repeat");
  const auto refused = local.judge(wrong.candidate, Purpose::Confirmation);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->verdict, Verdict::WrongResult);
}

TEST_F(DeviceJudgeTest, WhatOnlyWinnersAreAskedIsNotHeldAgainstWhatIsSlowerThanTheBest) {
  depth_ = Depth::Look;
  for (const bool isModelled : {false, true}) {
    JudgeOptions options;
    options.depth = Depth::Look;
    LocalJudge local = make("kernel", isModelled, 0, options);
    ASSERT_TRUE(local.baseline());
    EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
    const Trial behind = judge(local, "QUICK UNORDERED");
    EXPECT_EQ(behind.verdict, Verdict::Faster) << isModelled << behind.reason;
    const auto confirmed = local.judge(behind.candidate, Purpose::Confirmation);
    ASSERT_TRUE(confirmed);
    EXPECT_EQ(confirmed->verdict, Verdict::Faster) << confirmed->reason;
    EXPECT_TRUE(confirmed->passed(isModelled ? CheckId::Schedule : CheckId::Sanitizer));
  }
}

} // namespace
} // namespace kopt
