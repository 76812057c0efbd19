// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Trial.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(Assurance, IsFullOnlyWhereEveryCheckPassed) {
  const CheckRecord passed{CheckId::Outputs, CheckState::Passed, "of 2 launches"};
  const CheckRecord notRun{CheckId::Sanitizer, CheckState::NotRun, "it is not installed"};
  EXPECT_EQ(assuranceOf({passed}).level, AssuranceLevel::Full);
  EXPECT_TRUE(assuranceOf({passed}).gaps.empty());
  const Assurance partial = assuranceOf({passed, notRun});
  EXPECT_EQ(partial.level, AssuranceLevel::Partial);
  ASSERT_EQ(partial.gaps.size(), 1u);
  EXPECT_EQ(partial.gaps[0].check, CheckId::Sanitizer);
  EXPECT_EQ(partial.gaps[0].what, "it is not installed");
  EXPECT_EQ(assuranceOf({{CheckId::Races, CheckState::Failed, "a race"}}).level,
            AssuranceLevel::Partial);
  EXPECT_EQ(assuranceOf({}).level, AssuranceLevel::Partial);
  EXPECT_EQ(assuranceOf({}).gaps.size(), 1u);
}

TEST(Assurance, WhatDoesNotApplyIsNotMissingAndWhatWasMadeUpForIsNot) {
  EXPECT_EQ(assuranceOf({{CheckId::Outputs, CheckState::Passed, ""},
                         {CheckId::Sanitizer, CheckState::NotApplicable, "the emulated device"}})
                .level,
            AssuranceLevel::Full);
  // Verified again with every check, as a gain was hard to believe.
  EXPECT_EQ(assuranceOf({{CheckId::Coverage, CheckState::NotRun, "it runs only for winners"},
                         {CheckId::Coverage, CheckState::Passed, ""}})
                .level,
            AssuranceLevel::Full);
  const Assurance partial =
      assuranceOf({{CheckId::Coverage, CheckState::Passed, ""}},
                  {{CheckId::Coverage, "a branch"}, {CheckId::Coverage, "a branch"}});
  EXPECT_EQ(partial.level, AssuranceLevel::Partial);
  EXPECT_EQ(partial.gaps.size(), 1u);
}

TEST(Assurance, EachGapIsOneLineOfAReadableLength) {
  Assurance assurance;
  addGap(assurance, {CheckId::Sizes, "no\nother sizes"});
  addGap(assurance, {CheckId::None, std::string(30, 'x') + " word " + std::string(300, 'y')});
  const std::vector<std::string> lines = inLines(assurance, 60);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "sizes: no other sizes");
  EXPECT_EQ(lines[1], std::string(30, 'x') + " word…");
}

} // namespace
} // namespace kopt
