// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/LaunchNumbers.h"
#include "unit/judge/derive/DerivedLaunchesFixture.h"

using namespace kopt;

namespace {

using DeclaredNumbersTest = test::DerivedLaunchesFixture;

TEST_F(DeclaredNumbersTest, ASmallerProblemTakesTheFirstValues) {
  declaration_.arguments["n"] = "4";
  declaration_.fills["index"] = Fill{FillKind::Values, 0, 0};
  declaration_.fillValues["index"] = {"5", "6", "7", "8"};
  const Launch launch = declared();
  const auto numbers = numbersOf({kernel_, specialization_, &declaration_}, launch);
  const auto smaller = numbers->with({{"n", 2}});
  ASSERT_TRUE(smaller) << smaller.error().what;
  EXPECT_EQ(smaller->buffers[1].fill.bytes, std::string("\5\0\0\0\6\0\0\0", 8));
  // There are no values for a larger one: it is not made.
  EXPECT_FALSE(numbers->with({{"n", 5}}));
}

} // namespace
