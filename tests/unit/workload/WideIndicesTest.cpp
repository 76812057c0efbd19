// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/WideIndices.h"
#include "unit/workload/RowsFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

class WideIndicesTest : public test::RowsFixture {
protected:
  WideIndicesTest() { declaration_.extents["out"] = "rows * columns"; }

  std::vector<DerivedLaunch> wide() { return wideIndexLaunches(source(), launch()); }
};

TEST_F(WideIndicesTest, EachSizeAloneGivesEnoughElementsAndFewMore) {
  const auto launches = wide();
  ASSERT_EQ(launches.size(), 2u);
  for (const DerivedLaunch &one : launches) {
    EXPECT_EQ(one.kind, Derivation::Sizes);
    const std::uint64_t elements = one.launch.buffers[1].bytes / 4;
    EXPECT_GE(elements, kWideElements) << one.title;
    EXPECT_LT(elements, kWideElements + 1000) << one.title;
    EXPECT_EQ(one.launch.bindings.at("rows") == 100, one.launch.bindings.at("columns") != 96);
  }
  EXPECT_EQ(launches[0].launch.grid.x, std::uint32_t(launches[0].launch.bindings.at("rows")));
}

TEST_F(WideIndicesTest, StructsAreElements) {
  for (KernelParam &param : specialization_.params)
    if (param.kind == ParamKind::Pointer) {
      param.scalar = "struct 8 f32 0 i32 4";
      param.pointeeSize = 8;
    }
  ASSERT_FALSE(wide().empty());
  EXPECT_GE(wide()[0].launch.buffers[0].bytes / 8, kWideElements);
}

TEST_F(WideIndicesTest, ASizeStaysWithinItsTypeItsGridAndTheRequirements) {
  declaration_.extents = {{"in", "rows"}, {"out", "rows"}};
  EXPECT_TRUE(wide().empty()) << "an int has no more than 2^31";
  specialization_.params[2] = {"rows", "long", ParamKind::Scalar, 8, 8, "i64", 1, 0, false, false};
  EXPECT_TRUE(wide().empty()) << "a grid has no more than 2^31 blocks";
  kernel_.launches[0].grid = {"(rows + 127) / 128", "1", "1"};
  ASSERT_EQ(wide().size(), 1u);
  EXPECT_EQ(wide()[0].launch.bindings.at("rows"), std::int64_t(kWideElements));
  kernel_.launches[0].grid = {"1", "(rows + 127) / 128", "1"};
  EXPECT_TRUE(wide().empty()) << "65535 blocks along y";
  kernel_.launches[0].grid = {"(rows + 127) / 128", "1", "1"};
  declaration_.requirements = {"rows < 1000000"};
  EXPECT_TRUE(wide().empty());
}

} // namespace
