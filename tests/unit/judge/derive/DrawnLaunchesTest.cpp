// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/DrawnLaunches.h"
#include "unit/judge/derive/CapturedLaunchesFixture.h"
#include "unit/judge/derive/DerivedLaunchesFixture.h"

using namespace kopt;

namespace {

using DrawnLaunchesTest = test::DerivedLaunchesFixture;
class DrawnFromCapturedTest : public test::CapturedLaunchesFixture {};

TEST_F(DrawnLaunchesTest, DrawsAreOfAllScalarsAndSizesAndBelongTogether) {
  const Launch launch = only(derive(), Derivation::Sizes).front().launch;
  const DerivationSource source{kernel_, specialization_, &declaration_};
  std::set<std::int32_t> steps, sizes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto scalars = drawScalars(source, launch, seed), size = drawSizes(source, launch, seed);
    ASSERT_TRUE(scalars && size);
    steps.insert(integer(scalars->launch, 5));
    EXPECT_EQ(integer(scalars->launch, 4), integer(launch, 4));
    const std::int32_t n = integer(size->launch, 4);
    sizes.insert(n);
    EXPECT_GE(n, integer(launch, 4) / 2);
    EXPECT_LE(n, integer(launch, 4) * 5 / 4);
    EXPECT_EQ(size->launch.grid.x, std::uint32_t(n + 127) / 128);
    EXPECT_EQ(size->launch.buffers[0].bytes, std::uint64_t(n) * 4);
    EXPECT_TRUE(size->launch.buffers[2].output);
  }
  EXPECT_GT(steps.size(), 5u);
  EXPECT_GT(sizes.size(), 10u);
}

TEST_F(DrawnFromCapturedTest, DrawnSizesAreSmallerToo) {
  std::set<std::int32_t> seen;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto drawn = drawSizes({kernel_, specialization_, &declaration_}, launch_, seed);
    ASSERT_TRUE(drawn);
    const std::int32_t n = integer(drawn->launch, 6);
    EXPECT_TRUE(n >= kN * 3 / 4 && n <= kN) << n;
    EXPECT_EQ(integer(drawn->launch, 7), n);
    seen.insert(n);
  }
  EXPECT_GT(seen.size(), 5u);
}

} // namespace
