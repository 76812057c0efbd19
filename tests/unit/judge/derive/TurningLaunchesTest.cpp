// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/TurningLaunches.h"

#include "unit/judge/derive/DerivedLaunchesFixture.h"

#include <gmock/gmock.h>

using namespace kopt;

namespace {

class TurningLaunchesTest : public kopt::test::DerivedLaunchesFixture {
protected:
  std::vector<TurningLaunch> turns(const Candidate &candidate) {
    const Launch launch = declared();
    return turningLaunches({kernel_, specialization_, &declaration_}, launch, candidate);
  }
  static Candidate withGrid(const std::string &x) {
    Candidate candidate;
    candidate.launch.grid = {x, "1", "1"};
    return candidate;
  }
};

TEST_F(TurningLaunchesTest, AGridThatIsLimitedIsMetJustBeyondItsLimit) {
  const auto found = turns(withGrid("min((n + 511) / 512, 65535)"));
  ASSERT_EQ(found.size(), 1u);
  const std::int64_t n = found[0].derived.launch.bindings.at("n");
  EXPECT_GT(n, 65535 * 512);
  EXPECT_LT(n, 65535 * 512 / 10 * 11);
  EXPECT_FALSE(found[0].isRefused);
  EXPECT_THAT(found[0].what, testing::HasSubstr("65535 x 1 x 1"));
  EXPECT_EQ(found[0].derived.launch.buffers[0].bytes, 4u * n) << "the original's memory follows";
}

TEST_F(TurningLaunchesTest, ALaunchThatNoGpuMakesIsFound) {
  declaration_.arguments["n"] = "1000";
  Candidate shared;
  shared.launch.sharedBytes = "n * 4";
  const auto found = turns(shared);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].isRefused);
  EXPECT_NEAR(found[0].times, 12.3, 0.1) << "times 1000";
  EXPECT_GT(found[0].derived.launch.bindings.at("n"), 48 * 1024 / 4);
  EXPECT_LE(found[0].derived.launch.bindings.at("n"), 48 * 1024 / 4 + 8);
  Candidate block = withGrid("1");
  block.launch.block = {"n", "1", "1"};
  const auto tooMany = turns(block);
  ASSERT_EQ(tooMany.size(), 1u);
  EXPECT_THAT(tooMany[0].what, testing::HasSubstr("1024"));
  declaration_.requirements = {"n <= 1024"};
  EXPECT_TRUE(turns(block).empty()) << "no caller has more";
}

TEST_F(TurningLaunchesTest, AGridThatFollowsHasNoTurnAndAFixedOneIsTriedAtTwiceTheSize) {
  EXPECT_TRUE(turns(Candidate()).empty());
  EXPECT_TRUE(turns(withGrid("(n + 1023) / 1024")).empty());
  const auto found = turns(withGrid("7813"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].derived.launch.bindings.at("n"), 2000001);
}

} // namespace
