// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/ReachingLaunches.h"
#include "unit/judge/derive/RowsFixture.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

class ReachingLaunchesTest : public test::RowsFixture {
protected:
  std::vector<DerivedLaunch> reaching(const Deciding &deciding, std::uint64_t most = 1 << 21) {
    return reachingLaunches(source(), launch(), deciding, most, 48);
  }
  static bool have(const std::vector<DerivedLaunch> &launches, const std::string &name,
                   std::int64_t value) {
    return std::ranges::any_of(launches, [&](const DerivedLaunch &derived) {
      return derived.launch.bindings.at(name) == value;
    });
  }
};

TEST_F(ReachingLaunchesTest, AnIntegerIsWhatItIsComparedWith) {
  const auto launches = reaching({{2}, {4}}); // width == 2
  ASSERT_FALSE(launches.empty());
  EXPECT_EQ(launches.front().launch.bindings.at("width"), 2);
  EXPECT_TRUE(have(launches, "width", 3));
  EXPECT_TRUE(have(launches, "width", 1));
  const auto rest = reaching({{97, 5}, {4}}); // width % 97 == 5
  EXPECT_TRUE(have(rest, "width", 102));
  for (const DerivedLaunch &derived : rest)
    EXPECT_LE(costOf(derived.launch), 1u << 21) << derived.title;
}

TEST_F(ReachingLaunchesTest, CapturedNumbersComeBelowAndAboveWhatTheyAreComparedWith) {
  Launch captured = launch();
  captured.buffers[0].fill = {FillKind::Captured, 0, 0};
  captured.buffers[0].bytes = 64 << 20;
  Deciding deciding{{0}, {}, false, true}; // in[i] < 0
  std::vector<Fill> fills;
  const auto derive = [&] {
    fills.clear();
    for (const DerivedLaunch &derived : reachingLaunches(source(), captured, deciding, 1 << 30, 48))
      fills.push_back(derived.launch.buffers[0].fill);
  };
  derive();
  const auto isDrawn = [&](double low, double high) {
    return std::ranges::any_of(fills, [&](const Fill &fill) {
      return fill.kind == FillKind::Uniform && fill.low == low && fill.high == high;
    });
  };
  EXPECT_TRUE(isDrawn(-1, 0) && isDrawn(0, 1));
  captured.buffers[0].scalar = "u8";
  deciding.numbers = {48}; // in[i] == '0'
  derive();
  EXPECT_TRUE(isDrawn(42, 48) && isDrawn(48, 54));
}

TEST_F(ReachingLaunchesTest, ThereAreMoreBlocksThanTheNumber) {
  EXPECT_TRUE(have(reaching({{1000}, {}, true}), "rows", 1001));
  EXPECT_FALSE(have(reaching({{1000}, {}, true}, 1000), "rows", 1001)) << "it costs more";
}

TEST_F(ReachingLaunchesTest, RequirementsHold) {
  declaration_.requirements = {"width % 4 == 0"};
  const auto launches = reaching({{50}, {4}});
  EXPECT_FALSE(have(launches, "width", 50));
  declaration_.requirements = {"width % 2 == 0"};
  EXPECT_TRUE(have(reaching({{50}, {4}}), "width", 50));
}

TEST_F(ReachingLaunchesTest, AFloatingPointArgumentIsTheNumber) {
  const auto launches = reaching({{0.25}, {5}});
  EXPECT_TRUE(std::ranges::any_of(launches, [](const DerivedLaunch &derived) {
    float value = 0;
    std::memcpy(&value, std::get<ValueArg>(derived.launch.arguments[5]).bytes.data(), 4);
    return value == 0.25f;
  }));
}

TEST_F(ReachingLaunchesTest, ContentsHoldTheNumberAndOthersBesideIt) {
  const auto launches = reaching({{50}, {0}, false, true}); // in[i] > 50
  bool isMixed = false;
  for (const DerivedLaunch &derived : launches) {
    if (derived.kind != Derivation::Contents)
      continue;
    EXPECT_EQ(derived.launch.buffers[1].fill.kind, FillKind::Uniform) << "another buffer";
    const std::string &bytes = derived.launch.buffers[0].fill.bytes;
    int equal = 0, more = 0;
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      float value = 0;
      std::memcpy(&value, bytes.data() + i, 4);
      equal += value == 50;
      more += value > 50;
    }
    isMixed |= equal > 0 && more > 0;
  }
  EXPECT_TRUE(isMixed);
}

TEST_F(ReachingLaunchesTest, IntegersStayWithinWhatIsDeclared) {
  for (const DerivedLaunch &derived : reaching({{40}, {1}, false, true})) {
    const Fill &fill = derived.launch.buffers[1].fill;
    if (fill.kind != FillKind::Values) {
      EXPECT_GE(fill.low, 0) << derived.title;
      EXPECT_LE(fill.high, 63) << derived.title;
    }
    for (std::size_t i = 0; i + 4 <= fill.bytes.size(); i += 4) {
      std::int32_t value = 0;
      std::memcpy(&value, fill.bytes.data() + i, 4);
      EXPECT_TRUE(value >= 0 && value <= 63) << value;
    }
  }
  for (const DerivedLaunch &derived : reaching({{100}, {1}, false, true}))
    EXPECT_NE(derived.kind, Derivation::Contents) << derived.title;
}

} // namespace
