// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/ProgramLaunches.h"
#include "unit/judge/derive/CapturedLaunchesFixture.h"

#include <gmock/gmock.h>

using namespace kopt;
using testing::HasSubstr;

namespace {

/// nearest(points, numA, k, best), launched in blocks of a size that the host chooses.
class ProgramLaunchesTest : public testing::Test {
protected:
  ProgramLaunchesTest() {
    LaunchSite site;
    site.file = "src/nearest.cu";
    site.line = 12;
    site.symbol = specialization_.symbol = "nearest";
    site.grid = {"(((count + t) - 1) / t)", "1", "1"};
    site.block = {"t", "1", "1"};
    site.variables = {"count", "t"};
    site.args = {"d_points", "count", "K", "d_best + 4 * count"};
    site.pointers = {{"d_points", "0"}, {"", ""}, {"", ""}, {"d_best", "(4 * count) * 4"}};
    site.values = {"", "count", "5", ""};
    kernel_.launches = {site};
    kernel_.constants = {{"K", ConstantKind::Macro, 5, {}, 1, false, true}};
    specialization_.params = {
        {"points", "const float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, true, false},
        {"numA", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
        {"k", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
        {"best", "int *", ParamKind::Pointer, 8, 8, "i32", 1, 4, false, false}};
  }

  Launch launch(std::int32_t numA, std::int32_t k, std::uint32_t grid,
                std::array<std::uint64_t, 2> offsets = {0, 0}) const {
    Launch made;
    made.grid = {grid, 1, 1};
    made.block = {256, 1, 1};
    made.buffers.resize(2);
    const auto value = [](std::int32_t number) {
      return ValueArg{std::string(reinterpret_cast<const char *>(&number), sizeof number)};
    };
    made.arguments = {BufferArg{0, offsets[0]}, value(numA), value(k), BufferArg{1, offsets[1]}};
    return made;
  }
  std::string whyNot(const Launch &derived) const {
    return ProgramLaunches({kernel_, specialization_, nullptr}, {launch(100000, 5, 391)})
        .whyNot(derived);
  }

  KernelSpec kernel_;
  Specialization specialization_;
};

TEST_F(ProgramLaunchesTest, AGridThatTheHostComputesMovesWithItsSize) {
  EXPECT_EQ(whyNot(launch(100000, 5, 391)), "");
  EXPECT_EQ(whyNot(launch(99999, 5, 391)), "");
  EXPECT_EQ(whyNot(launch(255, 5, 1)), "");
  EXPECT_THAT(whyNot(launch(0, 5, 391)), HasSubstr("nearest.cu:12 computes"));
  EXPECT_THAT(whyNot(launch(1000, 5, 391)), HasSubstr("= 4, not 391"));
}

TEST_F(ProgramLaunchesTest, WhatTheSitePassesAsAConstantStays) {
  EXPECT_THAT(whyNot(launch(100000, 4, 391)), HasSubstr("K = 5, not 4"));
  kernel_.launches[0].args[2] = "k"; // a variable that happens to be 5
  EXPECT_EQ(whyNot(launch(100000, 4, 391)), "");
}

TEST_F(ProgramLaunchesTest, WhatIsFreeInTheSourceIsFree) {
  kernel_.launches[0].grid = {"128", "1", "1"}; // as with a loop over the grid
  const ProgramLaunches program({kernel_, specialization_, nullptr}, {launch(100000, 5, 128)});
  EXPECT_EQ(program.whyNot(launch(1, 5, 128)), "");
  EXPECT_THAT(program.whyNot(launch(1, 5, 129)), HasSubstr("128, not 129"));
}

TEST_F(ProgramLaunchesTest, OneVariableForTwoArgumentsIsOneNumber) {
  kernel_.launches[0].args[2] = "count";
  const ProgramLaunches program({kernel_, specialization_, nullptr}, {launch(1000, 1000, 4)});
  EXPECT_EQ(program.whyNot(launch(999, 999, 4)), "");
  EXPECT_THAT(program.whyNot(launch(999, 1000, 4)), HasSubstr("count = 999, not 1000"));
}

TEST_F(ProgramLaunchesTest, WhatTheFunctionChecksItselfHolds) {
  kernel_.launches[0].guards = {"(!(count > 200000))", "((count % 4) == 0)", "(err == 0)"};
  EXPECT_EQ(whyNot(launch(99996, 5, 391)), "");
  EXPECT_THAT(whyNot(launch(99998, 5, 391)),
              HasSubstr("nearest.cu:12 is reached only where ((count % 4) == 0)"));
  EXPECT_THAT(whyNot(launch(200704, 5, 784)), HasSubstr("only where (!(count > 200000))"));
}

TEST_F(ProgramLaunchesTest, ChecksOfAllSitesAreRequirementsOfTheKernel) {
  kernel_.launches[0].guards = {"(!(count > 200000))", "(count >= t)", "(err == 0)"};
  const auto requirements = [&] {
    return ProgramLaunches({kernel_, specialization_, nullptr}, {launch(100000, 5, 391)})
        .requirements();
  };
  EXPECT_THAT(requirements(), testing::ElementsAre("(!(numA > 200000))"));
  kernel_.launches.push_back(kernel_.launches[0]);
  kernel_.launches[1].guards = {};
  EXPECT_THAT(requirements(), testing::IsEmpty());
}

TEST_F(ProgramLaunchesTest, PointersAreAsAlignedAsTheSitesShow) {
  EXPECT_THAT(whyNot(launch(100000, 5, 391, {4, 0})), HasSubstr("'points' aligned to 16 bytes"));
  EXPECT_EQ(whyNot(launch(100000, 5, 391, {256, 0})), "");
  EXPECT_EQ(whyNot(launch(100000, 5, 391, {0, 4})), "") << "the site adds an unknown offset";
  kernel_.launches[0].pointers[0] = {"d_points", "8"};
  EXPECT_EQ(whyNot(launch(100000, 5, 391, {8, 0})), "");
  EXPECT_NE(whyNot(launch(100000, 5, 391, {4, 0})), "");
}

TEST_F(ProgramLaunchesTest, SitesThatDoNotMakeTheProgramsLaunchesTellNothing) {
  const ProgramLaunches program({kernel_, specialization_, nullptr}, {launch(7, 7, 7)});
  EXPECT_EQ(program.whyNot(launch(1, 2, 3, {4, 4})), "");
}

} // namespace
