// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/Claim.h"

#include <gtest/gtest.h>

using namespace kopt;

namespace {

Trial faster(std::vector<CheckRecord> checks, std::vector<Finding> findings = {}) {
  Trial trial;
  trial.verdict = Verdict::Faster;
  trial.reason = "2.0x";
  trial.checks = std::move(checks);
  trial.findings = std::move(findings);
  return trial;
}

constexpr AssurancePolicy kStandard = AssurancePolicy::Standard;

const Finding kBarrier{"barrier-removed", Severity::Flag, "fewer barriers than the baseline", ""};

TEST(Checks, UnknownNamesAreAUsageErrorThatListsThem) {
  const auto wrong = CheckSwitches::without({"guard"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::Usage);
  EXPECT_NE(wrong.error().hint.find("guards"), std::string::npos);
  const auto some = CheckSwitches::without({"guards", "sizes"});
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->on(CheckId::Sizes));
  EXPECT_TRUE(some->on(CheckId::Scalars));
  EXPECT_EQ(some->runnerChecks(), std::vector<std::string>{"guards"});
  EXPECT_TRUE(CheckSwitches().all());
}

TEST(Claim, AWinWithEveryLayerOnIsAWin) {
  EXPECT_FALSE(whyNoWin(faster({{CheckId::Outputs, CheckState::Passed, ""}}), {}, kStandard));
}

TEST(Claim, NothingJudgedWithALayerOffIsAWin) {
  const auto why = whyNoWin(faster({}), *CheckSwitches::without({"sizes"}), kStandard);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->verdict, Verdict::Suspect);
  EXPECT_EQ(why->reason.rfind("not a verdict: checks off: sizes", 0), 0u) << why->reason;
}

TEST(Claim, AFlagNeedsALayerThatPassed) {
  const CheckRecord repeat{CheckId::Repeat, CheckState::Passed, ""};
  EXPECT_FALSE(whyNoWin(faster({repeat, {CheckId::Schedule, CheckState::Passed, ""}}, {kBarrier}),
                        {}, kStandard));
  EXPECT_FALSE(whyNoWin(faster({repeat, {CheckId::Sanitizer, CheckState::Passed, ""}}, {kBarrier}),
                        {}, kStandard));
  const auto why =
      whyNoWin(faster({repeat, {CheckId::Schedule, CheckState::NotRun, "on a GPU"}}, {kBarrier}),
               {}, kStandard);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->check, CheckId::Obligations);
  EXPECT_NE(why->reason.find("schedule or sanitizer or emulated"), std::string::npos)
      << why->reason;
  EXPECT_NE(why->reason.find("on a GPU"), std::string::npos) << why->reason;
  EXPECT_TRUE(whyNoWin(faster({{CheckId::Schedule, CheckState::Passed, ""}}, {kBarrier}), {},
                       kStandard)); // and repeat has not
}

TEST(Claim, WhatCannotBeRunIsAHazardAndTheRestIsListed) {
  const Finding bounds{"bounds-check", Severity::Flag, "a bounds check is gone", ""},
      narrow{"short-index", Severity::Flag, "an index of 24 bits", ""},
      narrower{"narrow-index", Severity::Flag, "32 bits where the original has 64", ""};
  const Trial trial = faster({{CheckId::Sizes, CheckState::NotRun, "captured"}}, {bounds});
  EXPECT_FALSE(whyNoWin(trial, {}, kStandard));
  EXPECT_TRUE(whyNoWin(trial, {}, AssurancePolicy::Strict));
  ASSERT_EQ(openObligations(trial).size(), 1u);
  EXPECT_NE(openObligations(trial)[0].inWords().find("a bounds check is gone"), std::string::npos);
  EXPECT_TRUE(whyNoWin(faster({}, {narrow}), {}, kStandard));
  EXPECT_FALSE(whyNoWin(faster({}, {narrower}), {}, kStandard))
      << "the program's problems are far smaller";
  EXPECT_TRUE(whyNoWin(faster({}, {narrower}), {}, AssurancePolicy::Strict));
}

TEST(Claim, AFlagDemandsChecksOrSaysWhatIsMissing) {
  for (const char *id :
       {"atomic-removed", "barrier-removed", "fence-removed", "volatile", "cache-hint",
        "bounds-check", "unused-parameter", "precision", "data-table", "type-changed", "macro",
        "shared-function", "conditional", "parse", "assert", "trap", "sleep"})
    EXPECT_FALSE(demandOf({id, Severity::Flag, "", ""}).checks.empty()) << id;
  EXPECT_EQ(demandOf({"short-index", Severity::Flag, "", ""}).missing, "a problem that large");
  EXPECT_TRUE(demandOf({"short-index", Severity::Flag, "", ""}).isHazard);
  EXPECT_TRUE(demandOf({"volatile", Severity::Flag, "", ""}).isHazard);
  EXPECT_FALSE(demandOf({"bounds-check", Severity::Flag, "", ""}).isHazard);
  EXPECT_TRUE(demandOf({"print", Severity::Flag, "", ""}).checks.empty());
  EXPECT_TRUE(demandOf({"bounds-check", Severity::Reject, "", ""}).checks.empty());
}

Launch writer(std::uint64_t bytes) {
  Launch launch;
  launch.name = "big";
  Buffer out;
  out.name = "out";
  out.bytes = bytes;
  out.output = true;
  launch.buffers = {out};
  return launch;
}

TEST(Claim, NoLaunchIsFasterThanTheMemory) {
  DeviceInfo device;
  device.name = "GPU";
  device.l2Bytes = 50'000'000;
  device.dramBytesPerSecond = 4e12;
  device.storeBytesPerSecond = 30e12;
  // 250 MB: 200 MB of them through the memory; 30 MB: only to L2.
  EXPECT_NEAR(floorSeconds(writer(250'000'000), device), 50e-6, 1e-9);
  EXPECT_NEAR(floorSeconds(writer(30'000'000), device), 1e-6, 1e-9);
  Trial trial = faster({});
  trial.timings.resize(1);
  trial.timings[0].candidateSeconds = 49e-6;
  const auto failure = belowFloor(trial, {writer(250'000'000)}, device);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->verdict, Verdict::Suspect);
  EXPECT_EQ(failure->check, CheckId::Roofline);
  trial.timings[0].candidateSeconds = 51e-6;
  EXPECT_FALSE(belowFloor(trial, {writer(250'000'000)}, device));
  trial.timings[0].candidateSeconds = 0; // one shape that reports nothing makes any mean look well
  EXPECT_TRUE(belowFloor(trial, {writer(0)}, DeviceInfo{}));
}

} // namespace
