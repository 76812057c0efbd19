// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/HeldOut.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

/// Finds every candidate Faster, but for what it is told, with the gaps that it is told.
class OneAnswer final : public Judge {
public:
  OneAnswer(Verdict verdict, std::vector<AssuranceGap> gaps)
      : verdict_(verdict), gaps_(std::move(gaps)) {}
  Result<Baseline> baseline() override { return Baseline{}; }
  Result<Trial> judge(const Candidate &candidate, Purpose purpose, Stage = Stage::Time) override {
    Trial trial;
    trial.moduleHash = "code";
    if (purpose == Purpose::Search && asked_++ > 0) { // as LocalJudge does
      trial.candidate = candidate;
      trial.verdict = Verdict::Duplicate;
      trial.duplicateOf = candidate.contentHash();
      trial.reason = "the same machine code and launch as '" + candidate.title + "'";
      return trial;
    }
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    trial.purpose = purpose;
    trial.verdict = verdict_;
    trial.reason = "as told";
    trial.assurance = assuranceOf({{CheckId::Outputs, CheckState::Passed, ""}}, gaps_);
    return trial;
  }
  Result<std::optional<Speedup>> compare(const Candidate &, const Candidate &) override {
    return std::nullopt;
  }
  Status addCounters(Trial &) override { return {}; }

private:
  Verdict verdict_;
  std::vector<AssuranceGap> gaps_;
  int asked_ = 0;
};

class HeldOutTest : public testing::Test {
protected:
  Trial confirm(Verdict heldOut, std::vector<AssuranceGap> gaps,
                AssurancePolicy policy = AssurancePolicy::Standard) {
    JudgeOptions options;
    options.assurance = policy;
    HeldOutJudge judge(
        std::make_unique<OneAnswer>(Verdict::Faster, std::vector<AssuranceGap>()), {Launch()},
        options,
        [&](const Workload &, const JudgeOptions &) -> Result<std::unique_ptr<Judge>> {
          return std::make_unique<OneAnswer>(heldOut, gaps);
        },
        [this](const Trial &trial) -> Status {
          recorded_.push_back(trial);
          return {};
        });
    EXPECT_TRUE(judge.baseline());
    const auto trial = judge.judge({}, Purpose::Confirmation);
    EXPECT_TRUE(trial);
    return *trial;
  }

  std::vector<Trial> recorded_;
};

TEST_F(HeldOutTest, WhatThoseLaunchesDoNotShowIsMissingOfTheWinner) {
  const AssuranceGap sizes{CheckId::Sizes, "captured"},
      coverage{CheckId::Coverage, "it runs only for winners"};
  EXPECT_EQ(confirm(Verdict::Same, {}).assurance.level, AssuranceLevel::Full);
  const Trial winner = confirm(Verdict::Same, {sizes, coverage});
  EXPECT_EQ(winner.verdict, Verdict::Faster);
  EXPECT_EQ(winner.assurance.level, AssuranceLevel::Partial);
  ASSERT_EQ(winner.assurance.gaps.size(), 1u) << "what the confirmation has shown is shown";
  EXPECT_EQ(winner.assurance.gaps[0].check, CheckId::Sizes);
  EXPECT_NE(winner.assurance.gaps[0].what.find("held out"), std::string::npos);
  EXPECT_EQ(confirm(Verdict::Same, {sizes}, AssurancePolicy::Strict).verdict, Verdict::Suspect);
}

TEST_F(HeldOutTest, TheTrialOnThoseLaunchesIsKept) {
  const Trial winner = confirm(Verdict::WrongResult, {});
  EXPECT_EQ(winner.verdict, Verdict::WrongResult);
  EXPECT_EQ(winner.purpose, Purpose::Confirmation);
  ASSERT_EQ(recorded_.size(), 1u);
  EXPECT_EQ(recorded_[0].purpose, Purpose::HeldOut);
  EXPECT_EQ(recorded_[0].verdict, Verdict::WrongResult);
}

TEST_F(HeldOutTest, OneBaselineServesAllConfirmations) {
  int made = 0;
  HeldOutJudge judge(
      std::make_unique<OneAnswer>(Verdict::Faster, std::vector<AssuranceGap>()), {Launch()}, {},
      [&](const Workload &, const JudgeOptions &) -> Result<std::unique_ptr<Judge>> {
        ++made;
        return std::make_unique<OneAnswer>(Verdict::Slower, std::vector<AssuranceGap>());
      });
  ASSERT_TRUE(judge.baseline());
  for (int i = 0; i < 2; ++i) {
    const auto trial = judge.judge({}, Purpose::Confirmation);
    ASSERT_TRUE(trial);
    EXPECT_EQ(trial->verdict, Verdict::Slower) << "the same candidate again is no duplicate: " << i;
  }
  EXPECT_EQ(made, 1);
}

} // namespace
