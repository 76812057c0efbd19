// SPDX-License-Identifier: Apache-2.0
#include "driver/app/InferredClauses.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::ElementsAre;
using testing::HasSubstr;

KernelParam param(const std::string &name, ParamKind kind, const std::string &scalar) {
  KernelParam made;
  made.name = name;
  made.kind = kind;
  made.scalar = scalar;
  return made;
}

/// blur(const float *in, float *out, int width, int height, float factor), launched with host
/// variables that it gets for its sizes.
class InferredClausesTest : public testing::Test {
protected:
  InferredClausesTest() {
    specialization.symbol = "blur";
    specialization.params = {
        param("in", ParamKind::Pointer, "f32"), param("out", ParamKind::Pointer, "f32"),
        param("width", ParamKind::Scalar, "i32"), param("height", ParamKind::Scalar, "i32"),
        param("factor", ParamKind::Scalar, "f32")};
    site.symbol = "blur";
    site.file = "app.cu";
    site.line = 7;
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(columns + 15) / 16", "rows / 8", "1"};
    site.block = {"16", "8", "1"};
    site.args = {"d_in", "d_out", "columns", "rows", "alpha"};
    site.variables = {"columns", "rows"};
    kernel.name = "blur";
  }
  std::vector<std::string> infer(const TuneDeclaration &known = {}) {
    kernel.launches = {site};
    std::vector<std::string> texts;
    all = inferClauses(kernel, specialization, known);
    for (const InferredClause &clause : all)
      texts.push_back(clause.text);
    return texts;
  }
  KernelSpec kernel;
  Specialization specialization;
  LaunchSite site;
  std::vector<InferredClause> all;
};

TEST_F(InferredClausesTest, SizesExtentsAndRequirementsFollowFromTheGrid) {
  EXPECT_THAT(infer(), ElementsAre("arg width = 1024", "arg height = 1024", "arg factor = 1.0",
                                   "require height % 8 == 0", "extent in = width * height",
                                   "extent out = width * height"));
  EXPECT_TRUE(all[0].isGuess);
  EXPECT_THAT(all[0].comment, HasSubstr("app.cu:7 passes columns"));
  EXPECT_FALSE(all[3].isGuess);
  EXPECT_THAT(clauseTable("blur", all),
              HasSubstr("  \"require height % 8 == 0\",     # the launch"));
}

TEST_F(InferredClausesTest, WhatIsDeclaredIsNotSaidAgain) {
  TuneDeclaration known;
  known.arguments = {{"width", "64"}, {"height", "32"}, {"factor", "2"}};
  known.extents = {{"in", "2048"}};
  known.requirements = {"height % 8 == 0"};
  EXPECT_THAT(infer(known), ElementsAre("extent out = width * height"));
}

TEST_F(InferredClausesTest, AHostVariableThatIsPassedForNothingHasAClauseOfItsOwn) {
  site.grid = {"blocks", "1", "1"};
  site.variables = {"blocks"};
  site.args[4] = "nullptr";
  EXPECT_THAT(infer(), testing::Contains("arg blocks = 8"));
  EXPECT_THAT(infer(), testing::Contains("extent in = blocks * width * height"));
  specialization.params.resize(2);
  EXPECT_THAT(infer(), testing::Contains("extent in = blocks * (16) * (8)"));
}

TEST_F(InferredClausesTest, UnknownExtentsOfABlockGetValuesThatAGpuCanLaunch) {
  site.grid = {"g.x", "g.y", "g.z"};
  site.block = {"b.x", "b.y", "b.z"};
  site.variables = {"g.x", "g.y", "g.z", "b.x", "b.y", "b.z"};
  EXPECT_THAT(infer(), testing::IsSupersetOf({"arg b.x = 128", "arg b.y = 1", "arg b.z = 1",
                                              "arg g.x = 8", "arg g.y = 1", "arg g.z = 1"}));
  site.grid = {"(columns + edge - 1) / edge", "1", "1"};
  site.block = {"edge", "edge", "1"};
  site.variables = {"columns", "edge"};
  EXPECT_THAT(infer(), testing::IsSupersetOf({"arg edge = 32", "extent in = width * height"}));
}

TEST_F(InferredClausesTest, ANumberThatTheLaunchPassesIsKnown) {
  for (const auto &[passed, value] :
       {std::pair("1e-5f", "1e-5"), {"2", "2"}, {".5F", ".5"}, {"-3.25", "-3.25"}}) {
    site.args[4] = passed;
    EXPECT_THAT(infer(), testing::Contains(std::string("arg factor = ") + value));
    EXPECT_FALSE(all[2].isGuess);
  }
}

TEST_F(InferredClausesTest, WhatTheProgramComputesIsAskedForByWhatItComputesItFrom) {
  site.grid = {"columns", "1", "1"};
  site.values = {"", "", "columns", "(images * lines)", ""};
  EXPECT_THAT(infer(), testing::IsSupersetOf({"arg images = 128", "arg lines = 128"}));
  EXPECT_THAT(infer(), testing::Not(testing::Contains(HasSubstr("arg height"))));
}

TEST_F(InferredClausesTest, WhatFollowsIsNotAskedForWhereAnAllocationNamesIt) {
  site.grid = {"columns", "1", "1"};
  site.values = {"", "", "columns", "(images * lines)", ""};
  site.pointers = {{"d_in", "0", "rows"}, {"d_out", "0", ""}};
  const std::vector<std::string> texts = infer();
  EXPECT_THAT(texts,
              testing::IsSupersetOf({"arg images = 128", "arg lines = 128", "extent in = rows"}));
  EXPECT_THAT(texts, testing::Not(testing::Contains(HasSubstr("arg rows"))));
}

TEST_F(InferredClausesTest, WhatTheProgramAllocatesIsTheExtent) {
  site.pointers = {{"d_in", "0", "((columns * (rows + halo)) * 4)"},
                   {"d_out", "0", "(4 * (size + 1))"}};
  specialization.params[0].pointeeSize = specialization.params[1].pointeeSize = 4;
  const std::vector<std::string> texts = infer();
  EXPECT_THAT(texts, testing::IsSupersetOf({"arg halo = 128", "arg size = 128",
                                            "extent in = (columns * (rows + halo))",
                                            "extent out = (size + 1)"}));
  EXPECT_FALSE(all.back().isGuess);
}

TEST_F(InferredClausesTest, WhatAHostContainerHoldsIsAProductOfTheSizes) {
  site.pointers = {{"d_in", "0", "(4 * host.size())"}, {"d_out", "0", "(4 * columns)"}};
  specialization.params[0].pointeeSize = specialization.params[1].pointeeSize = 4;
  EXPECT_THAT(infer(), testing::IsSupersetOf({"arg width = 1024", "arg height = 1024",
                                              "arg host.size() = width * height",
                                              "extent in = host.size()"}));
}

TEST_F(InferredClausesTest, AContainersSizeIsTheNumberThatTheLaunchTakesFromIt) {
  site.values = {"", "", "in.size()", "out.size()", ""};
  site.pointers = {{"d_in", "0", "(4 * in.size())"}, {"d_out", "0", "(4 * host.size())"}};
  specialization.params[0].pointeeSize = specialization.params[1].pointeeSize = 4;
  EXPECT_THAT(infer(), testing::IsSupersetOf({"arg width = 1024", "arg height = 1024",
                                              "arg in.size() = width", "extent in = in.size()",
                                              "arg host.size() = width * height",
                                              "extent out = host.size()"}));
  EXPECT_THAT(infer(), testing::Not(testing::Contains(HasSubstr("out.size()"))));
}

TEST_F(InferredClausesTest, WhatIsDividedIsLargeEnough) {
  for (const std::string size : {"in.n", "in.size()"}) {
    site.grid = {"(rows + 255) / 256", "1", "1"};
    site.values = {"", "", "columns", "(" + size + " / columns)", ""};
    EXPECT_THAT(infer(), testing::IsSupersetOf({std::string("arg width = 1024"),
                                                "arg " + size + " = 1048576", "extent in = " + size,
                                                "extent out = " + size}));
  }
}

TEST_F(InferredClausesTest, AnExtentIsTheNumbersOfTheObjectThatHoldsThePointer) {
  site.pointers = {{"a.p", "0", ""}, {"b.data()", "0", ""}};
  site.values = {"", "", "a.n", "b.size()", ""};
  EXPECT_THAT(infer(), testing::IsSupersetOf({"extent in = width", "extent out = height"}));
  site.values = {"", "", "a.columns", "a.rows", ""};
  EXPECT_THAT(infer(), testing::Contains("extent in = width * height"));
}

TEST_F(InferredClausesTest, AGuessedGridHasAThreadForEachItem) {
  site.grid = {"g.x", "g.y", "1"};
  site.block = {"b.x", "b.y", "1"};
  site.args = {"", "", "", "", ""};
  site.variables = {"g.x", "g.y", "b.x", "b.y"};
  specialization.params.erase(specialization.params.begin() + 3);
  EXPECT_THAT(infer(), testing::IsSupersetOf({"arg width = 1048576", "arg b.x = 128",
                                              "arg g.x = (width + b.x - 1) / b.x", "arg g.y = 1",
                                              "extent in = width", "extent out = width"}));
  site.values = {"", "", "10000", ""};
  site.block = {"256", "1", "1"};
  EXPECT_THAT(infer(),
              testing::IsSupersetOf({"arg g.x = (10000 + 256 - 1) / 256", "extent in = 10000"}));
}

TEST_F(InferredClausesTest, AStructOfNumbersHasAClause) {
  specialization.params.push_back(param("shift", ParamKind::Struct, ""));
  specialization.params.back().members = {{"x", "f32", 0}, {"y", "i32", 4}};
  EXPECT_THAT(infer(), testing::Contains("arg shift = {1.0, 1}"));
}

TEST_F(InferredClausesTest, WithoutALaunchEverythingIsAGuess) {
  site.symbol = "other";
  infer();
  for (const InferredClause &clause : all)
    EXPECT_TRUE(clause.isGuess) << clause.text;
  EXPECT_EQ(all.back().text, "extent out = width * height");
}

TEST_F(InferredClausesTest, TunablesAreClausesAndDoubtsAreComments) {
  kernel.constants = {{"EDGE", ConstantKind::Macro, 16, {"app.cu", 1, 3}, 1, true, true},
                      {"DEPTH", ConstantKind::Macro, 4, {"app.cu", 5, 6}, 2, true, true}};
  SizeUse edge, depth;
  edge.name = "EDGE";
  depth.name = "DEPTH";
  edge.inKernel = depth.inKernel = depth.steps = depth.tiles = true;
  depth.otherUse = "an argument of 'malloc' at app.cu:5";
  kernel.sizes = KernelSizes{};
  kernel.sizes->uses = {edge, depth};
  site.block = {"EDGE", "EDGE", "1"};
  site.grid = {"columns / EDGE", "rows", "1"};
  EXPECT_THAT(infer(), testing::IsSupersetOf(
                           {"param EDGE in {4, 8, 16, 32, 64}", "require EDGE * EDGE <= 1024"}));
  // The requirement of the grid is given once.
  EXPECT_EQ(std::ranges::count(infer(), "require width % EDGE == 0"), 1);
  EXPECT_THAT(clauseTable("blur", all), HasSubstr("\n  # \"param DEPTH in {1, 2, 4, 8, 16}\","));
  EXPECT_THAT(
      clauseTable("blur", all),
      HasSubstr("# a step of the kernel; it is also an argument of 'malloc' at app.cu:5\n"));
}

} // namespace
