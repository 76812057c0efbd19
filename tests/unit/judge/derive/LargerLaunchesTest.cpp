// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/LargerLaunches.h"
#include "unit/judge/derive/RowsFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

class LargerLaunchesTest : public test::RowsFixture {
protected:
  std::vector<DerivedLaunch> larger(std::uint64_t most, std::size_t count) {
    return largerLaunches(source(), launch(), most, count);
  }
};

TEST_F(LargerLaunchesTest, EachSizeGrowsWhileTheOthersAreSmall) {
  const auto launches = larger(1 << 18, 100);
  std::int64_t mostWidth = 0, mostRows = 0;
  std::uint64_t cost = 0;
  for (const DerivedLaunch &derived : launches) {
    EXPECT_EQ(derived.kind, Derivation::Sizes);
    EXPECT_LE(costOf(derived.launch), 1u << 18) << derived.title;
    EXPECT_GE(costOf(derived.launch), cost) << "the cheapest first";
    cost = costOf(derived.launch);
    const auto &bindings = derived.launch.bindings;
    EXPECT_TRUE(bindings.at("rows") > 100 || bindings.at("width") > 96) << derived.title;
    mostWidth = std::max(mostWidth, bindings.at("width"));
    mostRows = std::max(mostRows, bindings.at("rows"));
  }
  EXPECT_GE(mostWidth, 96 << 10);
  EXPECT_GE(mostRows, 1600);
  EXPECT_TRUE(std::ranges::any_of(launches, [](const DerivedLaunch &derived) {
    return derived.launch.bindings.at("width") % 2 == 1;
  }));
  EXPECT_EQ(larger(1 << 18, 5).size(), 5u);
}

TEST_F(LargerLaunchesTest, NoneBreaksARequirement) {
  declaration_.requirements = {"width % 32 == 0", "rows <= 400"};
  const auto launches = larger(1 << 18, 100);
  EXPECT_FALSE(launches.empty());
  for (const DerivedLaunch &derived : launches) {
    EXPECT_EQ(derived.launch.bindings.at("width") % 32, 0) << derived.title;
    EXPECT_LE(derived.launch.bindings.at("rows"), 400) << derived.title;
  }
}

TEST_F(LargerLaunchesTest, ThereAreNoneOfACapturedLaunch) {
  Launch captured;
  EXPECT_TRUE(largerLaunches({kernel_, specialization_, nullptr}, captured, 1 << 18, 10).empty());
}

} // namespace
