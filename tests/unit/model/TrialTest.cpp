// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Trial.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(Assurance, IsFullOnlyWhereEveryCheckPassed) {
  const CheckRecord passed{"outputs", CheckState::Passed, "of 2 launches"};
  const CheckRecord notRun{"sanitizer", CheckState::NotRun, "it is not installed"};
  EXPECT_EQ(assuranceOf({passed}).level, AssuranceLevel::Full);
  EXPECT_TRUE(assuranceOf({passed}).gaps.empty());
  const Assurance partial = assuranceOf({passed, notRun});
  EXPECT_EQ(partial.level, AssuranceLevel::Partial);
  ASSERT_EQ(partial.gaps.size(), 1u);
  EXPECT_EQ(partial.gaps[0].check, "sanitizer");
  EXPECT_EQ(partial.gaps[0].what, "it is not installed");
  EXPECT_EQ(assuranceOf({{"races", CheckState::Failed, "a race"}}).level, AssuranceLevel::Partial);
  EXPECT_EQ(assuranceOf({}).level, AssuranceLevel::Partial);
  EXPECT_EQ(assuranceOf({}).gaps.size(), 1u);
}

} // namespace
} // namespace kopt
