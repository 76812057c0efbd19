// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/InferredTunables.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// copy(const float *in, float *out, int columns), a tile of TILE x TILE in blocks of TILE x ROWS.
class InferredTunablesTest : public testing::Test {
protected:
  InferredTunablesTest() {
    kernel.name = "copy";
    kernel.unit = "app.cu";
    kernel.units = {"app.cu"};
    kernel.constants = {constant("TILE", 32, 10), constant("ROWS", 8, 20)};
    kernel.sizes = KernelSizes{};
    kernel.sizes->uses = {use("TILE"), use("ROWS")};
    kernel.sizes->requirements = {"TILE % ROWS == 0"};
    kernel.sizes->sharedBytes = {"TILE * (TILE + 1) * 4"};
    kernel.sizes->guardsThreads = true;
    specialization.symbol = "copy";
    KernelParam columns;
    columns.name = "columns";
    columns.scalar = "i32";
    specialization.params = {columns};
    site.symbol = "copy";
    site.file = "app.cu";
    site.line = 7;
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(n + TILE - 1) / TILE", "1", "1"};
    site.block = {"TILE", "ROWS", "1"};
    site.args = {"n"};
    site.variables = {"n"};
  }
  static NamedConstant constant(const std::string &name, std::int64_t value, std::uint64_t at) {
    return {name, ConstantKind::Constexpr, value, {"app.cu", at, at + 2}, 1, true, true};
  }
  static SizeUse use(const std::string &name) {
    SizeUse made;
    made.name = name;
    made.inKernel = made.tiles = true;
    return made;
  }
  InferredTunables infer(const TuneDeclaration &known = {}) {
    kernel.launches = {site};
    return inferTunables(kernel, specialization, known);
  }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const InferredTunable &one : infer().tunables)
      found.push_back((one.isProven ? "+" : one.doubt.empty() ? "" : "?") + one.name);
    return found;
  }
  Launch launchWith(const std::string &name) {
    Launch launch;
    launch.bindings = {{"TILE", 32}, {"ROWS", 8}, {name, 1024}};
    return launch;
  }
  KernelSpec kernel;
  Specialization specialization;
  LaunchSite site;
};

TEST_F(InferredTunablesTest, TheConstantsOfABlockAreTunablesWithWhatTheKernelNeedsOfThem) {
  const InferredTunables found = infer();
  ASSERT_EQ(found.tunables.size(), 2u);
  EXPECT_EQ(found.tunables[0].name, "ROWS");
  EXPECT_THAT(found.tunables[0].values, ElementsAre(2, 4, 8, 16, 32));
  EXPECT_EQ(found.tunables[0].reason, "the block of the launch at app.cu:7");
  EXPECT_TRUE(found.tunables[0].isProven);
  EXPECT_THAT(found.tunables[1].values, ElementsAre(8, 16, 32, 64, 128));
  EXPECT_THAT(found.requirements, ElementsAre("TILE % ROWS == 0", "TILE * (TILE + 1) * 4 <= 49152",
                                              "TILE * ROWS <= 1024"));
}

TEST_F(InferredTunablesTest, ABlockOfOneDimensionHasThePowersOfTwoOfWholeWarps) {
  site.block = {"TILE", "1", "1"};
  EXPECT_THAT(infer().tunables[0].values, ElementsAre(32, 64, 128, 256, 512, 1024));
  EXPECT_THAT(names(), ElementsAre("+TILE")); // ROWS is no more than the extent of an array
}

TEST_F(InferredTunablesTest, WhatElseTheProgramUsesIsADoubtAndHasNoRequirements) {
  kernel.sizes->uses[0].otherUse = "an argument of 'malloc' at app.cu:3";
  kernel.sizes->uses[1].otherUse = "a real number at app.cu:4";
  EXPECT_THAT(names(), ElementsAre("?ROWS", "?TILE"));
  EXPECT_EQ(infer().tunables[1].doubt, "it is also an argument of 'malloc' at app.cu:3");
  EXPECT_THAT(infer().requirements, IsEmpty());
}

TEST_F(InferredTunablesTest, AGridThatLeavesARemainderOutNeedsWholeTiles) {
  site.grid = {"n / TILE", "1", "1"};
  EXPECT_THAT(infer().requirements, Contains("columns % TILE == 0"));
}

TEST_F(InferredTunablesTest, AKernelThatDoesNotStopItsThreadsNeedsWholeBlocks) {
  EXPECT_THAT(infer().requirements, Not(Contains(HasSubstr("columns"))));
  kernel.sizes->guardsThreads = false;
  EXPECT_THAT(infer().requirements, Contains("columns % TILE == 0"));
  site.grid = {"(n + 7) / 8", "1", "1"}; // which does not depend on a tunable
  EXPECT_THAT(infer().requirements, Not(Contains(HasSubstr("columns"))));
}

TEST_F(InferredTunablesTest, WhatRunsAsOftenAsNowIsKept) {
  kernel.sizes->kept = {"(TILE + ROWS - 1) / ROWS"};
  EXPECT_THAT(infer().requirements, Contains("(TILE + ROWS - 1) / ROWS == 4"));
}

TEST_F(InferredTunablesTest, AQuotientInTheBlockIsExact) {
  site.block = {"TILE", "TILE / ROWS", "1"};
  kernel.sizes->requirements.clear();
  EXPECT_THAT(infer().requirements, Contains("TILE % ROWS == 0"));
}

TEST_F(InferredTunablesTest, ATemplateParameterIsTunedAsTheConstantThatTheLaunchNames) {
  specialization.templateArgs = {{"T", "32", true, kernel.constants[0].valueRange}};
  kernel.sizes->uses = {use("T"), use("ROWS")};
  kernel.sizes->requirements = {"T % ROWS == 0"};
  EXPECT_THAT(names(), ElementsAre("+ROWS", "+TILE"));
  EXPECT_THAT(infer().requirements, Contains("TILE % ROWS == 0"));
}

TEST_F(InferredTunablesTest, ABlockThatTheLaunchSpellsInNumbersDoesNotFollow) {
  specialization.templateArgs = {{"WIDTH", "16", true, SourceRange{"app.cu", 50, 52}}};
  kernel.sizes->uses.push_back(use("WIDTH"));
  site.block = {"16", "ROWS", "1"};
  EXPECT_THAT(names(), ElementsAre("+ROWS", "?WIDTH"));
  EXPECT_THAT(infer().tunables[1].doubt, HasSubstr("spells its block in numbers"));
}

TEST_F(InferredTunablesTest, AStepOfALoopIsATunableIfSomethingIsAsLargeAsIt) {
  site.block = {"64", "1", "1"};
  site.grid = {"(n + 63) / 64", "1", "1"};
  EXPECT_THAT(names(), IsEmpty());
  kernel.sizes->uses[0].steps = true;
  EXPECT_THAT(names(), ElementsAre("+TILE"));
  kernel.sizes->uses[0].tiles = false; // it only leaves elements out
  EXPECT_THAT(names(), IsEmpty());
  kernel.sizes->uses[0].tiles = kernel.sizes->uses[0].acrossBlocks = true;
  EXPECT_EQ(infer().tunables[0].doubt, "the grid does not follow it");
}

TEST_F(InferredTunablesTest, TheThreadsOfAWarpAndWhatIsDeclaredAreLeftOut) {
  kernel.constants[1].name = kernel.sizes->uses[1].name = site.block[1] = "kWarpSize";
  EXPECT_THAT(names(), ElementsAre("+TILE"));
  TuneDeclaration known;
  known.params.push_back({.name = "TILE", .values = {32}});
  EXPECT_THAT(infer(known).tunables, IsEmpty());
}

TEST_F(InferredTunablesTest, OnlyWhatNoOtherCodeNamesIsProven) {
  kernel.sizes->uses[0].inOtherKernels = true;
  kernel.constants[1].valueRange.file = "sizes.h";
  EXPECT_THAT(names(), ElementsAre("ROWS", "TILE"));
  kernel.sizes->uses[1].inKernel = false;
  EXPECT_EQ(infer().tunables[0].doubt, "the kernel does not read blockDim");
  kernel.sizes->readsBlockDim = true;
  EXPECT_EQ(infer().tunables[0].doubt, "");
  kernel.units.push_back("other.cu");
  EXPECT_THAT(names(), ElementsAre("?ROWS", "?TILE"));
}

TEST_F(InferredTunablesTest, ATuneWithoutTunablesGetsTheProvenOnes) {
  kernel.launches = {site};
  kernel.sizes->requirements.push_back("columns % TILE == 0");
  const auto with = [&](TuneDeclaration declaration, const std::string &bound) {
    return withProvenTunables(std::move(declaration), kernel, specialization, {launchWith(bound)});
  };
  const TuneDeclaration made = with({}, "columns");
  ASSERT_EQ(made.params.size(), 2u);
  EXPECT_EQ(made.params[1].name, "TILE");
  EXPECT_THAT(made.requirements, Contains("columns % TILE == 0"));
  ASSERT_EQ(with({}, "other").params.size(), 1u); // nobody knows the columns
  EXPECT_EQ(with({}, "other").params[0].name, "ROWS");
  TuneDeclaration declared;
  declared.params.push_back({.name = "ROWS", .values = {4, 8}});
  EXPECT_EQ(with(declared, "columns").params.size(), 1u);
}

} // namespace
