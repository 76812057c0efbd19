// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/Scale.h"

#include <gmock/gmock.h>
#include <limits>

namespace kopt::html {
namespace {

TEST(Scale, HasRoundEndsAroundTheData) {
  const Scale scale = Scale::linear(0.93, 2.31, 100, 0);
  EXPECT_DOUBLE_EQ(scale.low(), 0.5);
  EXPECT_DOUBLE_EQ(scale.high(), 2.5);
  EXPECT_THAT(scale.ticks(), testing::ElementsAre(0.5, 1, 1.5, 2, 2.5));
  EXPECT_DOUBLE_EQ(scale.at(1.5), 50);
  EXPECT_DOUBLE_EQ(scale.at(2.5), 0);
}

TEST(Scale, KeepsWhatLiesBeyondItAtItsEnds) {
  const Scale scale = Scale::linear(1, 2, 0, 10);
  EXPECT_DOUBLE_EQ(scale.at(-5), 0);
  EXPECT_DOUBLE_EQ(scale.at(std::numeric_limits<double>::infinity()), 10);
  EXPECT_DOUBLE_EQ(scale.at(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Scale, OfOneValueHasAnExtent) {
  const Scale scale = Scale::linear(1, 1, 0, 10);
  EXPECT_LT(scale.low(), scale.high());
  EXPECT_GE(scale.ticks().size(), 2U);
}

TEST(Scale, IsLogarithmicWhereRatiosAreFarApart) {
  const Scale near = Scale::ofRatios(0.5, 3, 0, 10), wide = Scale::ofRatios(0.1, 10, 0, 10);
  EXPECT_NEAR(near.at(1.5) - near.at(1), near.at(2) - near.at(1.5), 1e-9);
  EXPECT_NEAR(wide.at(1), 5, 1e-9);
}

TEST(Scale, ShortensMarks) {
  EXPECT_EQ(tickLabel(4.4e12), "4.4T");
  EXPECT_EQ(tickLabel(1000), "1k");
  EXPECT_EQ(tickLabel(0.25), "0.25");
  EXPECT_EQ(tickLabel(0.002), "0.002");
  EXPECT_EQ(tickLabel(0), "0");
}

} // namespace
} // namespace kopt::html
