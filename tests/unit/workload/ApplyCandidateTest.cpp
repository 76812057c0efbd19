// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/ApplyCandidate.h"
#include "clang_plugin/output/Variants.h"
#include "driver/source/RenderSlice.h"
#include "fakes/ScaleKernel.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using ApplyCandidateTest = ScaleKernel;

TEST_F(ApplyCandidateTest, AConstantChangesTheSliceTheLaunchAndTheSourceTogether) {
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  const auto rendered = renderSlice(slice_, kernel_, specialization_, candidate);
  ASSERT_TRUE(rendered);
  EXPECT_NE(rendered->text.find("constexpr int TILE = 64;"), std::string::npos);
  const auto launch = applyToLaunch(kernel_, workload().launches[0], candidate);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->block.x, 64u);
  EXPECT_EQ(launch->grid.x, 16u);
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  ASSERT_EQ(edits->size(), 1u);
  EXPECT_EQ(patched(*edits).find("constexpr int TILE = 64;"), 0u);
}

TEST_F(ApplyCandidateTest, ANewBlockCoversTheSameThreadsAndRewritesTheLaunchSite) {
  Candidate candidate;
  candidate.launch.block = {{"256", "1", "1"}};
  candidate.launch.grid = coveringGrid({256, 1, 1});
  const auto launch = applyToLaunch(kernel_, workload().launches[0], candidate);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->block.x, 256u);
  EXPECT_EQ(launch->grid.x, 4u); // 32 blocks of 32 threads
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  EXPECT_NE(
      patched(*edits).find("scale<<<(((n + TILE - 1) / TILE) * TILE + 255) / 256, 256>>>(x, n);"),
      std::string::npos)
      << patched(*edits);
}

TEST_F(ApplyCandidateTest, ATunableIsDeclaredNamedByTheLaunchAndKeptByThePatch) {
  Candidate candidate;
  candidate.tunables = {{"ROWS", {2, 4}, {}, 4, 1}};
  candidate.launch.grid = {{"ceil_div(n, ROWS * blockDim.x)", "1", "1"}};
  candidate.launch.sharedBytes = "ROWS * 8";
  const auto launch = applyToLaunch(kernel_, workload().launches[0], candidate);
  ASSERT_TRUE(launch) << launch.error().what;
  EXPECT_EQ(launch->grid.x, 8u); // 1000 of 4 rows of 32
  EXPECT_EQ(launch->sharedBytes, 32u);
  const auto rendered = renderSlice(slice_, kernel_, specialization_, candidate);
  ASSERT_TRUE(rendered);
  EXPECT_NE(rendered->text.find("constexpr int ROWS = 4;\n\n__global__"), std::string::npos)
      << rendered->text;
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  const std::string text = patched(*edits);
  EXPECT_NE(text.find("constexpr int ROWS = 4;\n\n__global__"), std::string::npos) << text;
  EXPECT_NE(text.find("scale<<<(n + ROWS * TILE - 1) / (ROWS * TILE), TILE, ROWS * 8>>>"),
            std::string::npos)
      << text;
}

TEST_F(ApplyCandidateTest, WhatNoGpuLaunchesIsNamedWithTheLimit) {
  const auto why = [&](const LaunchOverride &launch) {
    Candidate candidate;
    candidate.launch = launch;
    const auto changed = applyToLaunch(kernel_, workload().launches[0], candidate);
    return changed ? std::string("launched") : changed.error().what;
  };
  Candidate large;
  large.constants["TILE"] = 2048;
  const auto launch = applyToLaunch(kernel_, workload().launches[0], large);
  ASSERT_FALSE(launch);
  EXPECT_EQ(launch.error().what, "a block of 2048 x 1 x 1 has 2048 threads; a GPU takes at most "
                                 "1024 in launch 'launch'");
  LaunchOverride over;
  over.block = {{"1", "1", "65"}};
  EXPECT_NE(why(over).find("65 deep in z; a GPU takes at most 64"), std::string::npos) << why(over);
  over.block = {{"8", "8", "16"}};
  EXPECT_EQ(why(over), "launched");
  over.grid = {{"1", "65536", "1"}};
  EXPECT_NE(why(over).find("a grid of 1 x 65536 x 1 is too large"), std::string::npos) << why(over);
  over.grid = {{"n / 2000", "1", "1"}};
  EXPECT_NE(why(over).find("the grid's x 'n / 2000' is 0"), std::string::npos) << why(over);
  over.grid = {{"m / 2", "1", "1"}};
  EXPECT_NE(why(over).find("no value for m"), std::string::npos) << why(over);
}

TEST_F(ApplyCandidateTest, ALaunchWhoseNumbersCannotBeIsRefusedButNotAnUnknownOne) {
  const auto why = [&](const char *grid) {
    Candidate candidate;
    candidate.launch.grid = {grid, "1", "1"};
    return whyNotLaunched(kernel_, workload().launches[0], candidate).value_or("launched");
  };
  EXPECT_EQ(why("n / 10"), "launched");
  EXPECT_EQ(why("n / 2000"), "the grid's x 'n / 2000' is 0");
  EXPECT_NE(why("n / (n / 2000)").find("division by zero"), std::string::npos);
  EXPECT_EQ(why("m / 2"), "launched") << "nobody knows m";
}

TEST_F(ApplyCandidateTest, ExpressionsTakeThePlaceOfTheLaunchSitesAndFollowItsNumbers) {
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  candidate.launch.grid = {{"(n / 4 + TILE - 1) / TILE", "2", "1"}};
  candidate.launch.sharedBytes = "TILE * 8";
  Launch before = workload().launches[0];
  auto launch = applyToLaunch(kernel_, before, candidate);
  ASSERT_TRUE(launch) << launch.error().what;
  EXPECT_EQ(launch->grid, (Dim3{4, 2, 1})); // n = 1000
  EXPECT_EQ(launch->block, (Dim3{64, 1, 1}));
  EXPECT_EQ(launch->sharedBytes, 512u);
  before.bindings["n"] = 4000; // a derived launch
  launch = applyToLaunch(kernel_, before, candidate);
  ASSERT_TRUE(launch) << launch.error().what;
  EXPECT_EQ(launch->grid, (Dim3{16, 2, 1}));
  const auto again = applyToLaunch(kernel_, *launch, candidate);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->grid, launch->grid);
}

TEST_F(ApplyCandidateTest, LargeSharedMemoryHasToBeAskedFor) {
  Candidate candidate;
  candidate.launch.sharedBytes = "TILE * 2048";
  Launch before = workload().launches[0];
  auto launch = applyToLaunch(kernel_, before, candidate);
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().what.find("65536 bytes"), std::string::npos) << launch.error().what;
  EXPECT_NE(launch.error().what.find("cudaFuncSetAttribute"), std::string::npos);
  candidate.launch.largeShared = true;
  launch = applyToLaunch(kernel_, before, candidate);
  ASSERT_TRUE(launch) << launch.error().what;
  EXPECT_EQ(launch->sharedBytes, 65536u);
  candidate.launch.sharedBytes = "TILE * 8192"; // more than 227 KiB is on no GPU
  launch = applyToLaunch(kernel_, before, candidate);
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().what.find("262144 bytes"), std::string::npos) << launch.error().what;
  candidate.launch.sharedBytes = "TILE * 2048";
  candidate.launch.largeShared = false;
  before.sharedBytes = 50000; // the program opts in already
  EXPECT_TRUE(applyToLaunch(kernel_, before, candidate));
}

TEST_F(ApplyCandidateTest, ATemplateParameterIsNoHostVariableOfItsName) {
  kernel_.launches[0].variables = {"n"};
  Candidate candidate;
  candidate.constants["n"] = 8; // template <int n>
  const auto launch = applyToLaunch(kernel_, workload().launches[0], candidate);
  ASSERT_TRUE(launch) << launch.error().what;
  EXPECT_EQ(launch->grid.x, 32u);
}

TEST_F(ApplyCandidateTest, ACapturedLaunchOfAnUnknownSiteDoesNotFollowConstants) {
  Launch captured = workload().launches[0];
  captured.buffers[0].fill.kind = FillKind::Captured;
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  EXPECT_TRUE(applyToLaunch(kernel_, captured, candidate)) << "its site is known";
  captured.geometry = {{"32", "1", "1"}, {"32", "1", "1"}, "0"};
  const auto launch = applyToLaunch(kernel_, captured, candidate);
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().what.find("'TILE' changes the launch at " + path_ + ":4"),
            std::string::npos)
      << launch.error().what;
  candidate.launch.grid = {{"n / 64", "1", "1"}};
  candidate.launch.block = {{"TILE", "1", "1"}};
  EXPECT_TRUE(applyToLaunch(kernel_, captured, candidate)) << "it says what it launches";
}

TEST_F(ApplyCandidateTest, WhatTheLaunchSiteHadInACapturedLaunchIsKnown) {
  Launch captured = workload().launches[0];
  kernel_.launches[0].grid = {"(width * height) / 250", "1", "1"};
  kernel_.launches[0].block = {"threads", "rows", "1"};
  kernel_.launches[0].variables = {"width", "height", "threads", "rows"};
  captured.buffers[0].fill.kind = FillKind::Captured;
  captured.grid = {400, 1, 1};
  captured.block = {16, 8, 1};
  captured.geometry = {{"400", "1", "1"}, {"16", "8", "1"}, "0"};
  Candidate candidate;
  candidate.launch.grid = {{"min(((width * height) / 250), n / 10)", "1", "1"}};
  candidate.launch.block = {{"threads", "rows / 4", "1"}};
  const auto launch = applyToLaunch(kernel_, captured, candidate);
  ASSERT_TRUE(launch) << launch.error().what;
  EXPECT_EQ(launch->grid, (Dim3{100, 1, 1})); // n = 1000
  EXPECT_EQ(launch->block, (Dim3{16, 2, 1}));
  kernel_.launches[0].grid[0] = "((width * height) / 250)"; // as the front end writes it
  candidate.launch.grid = {
      {"((((width * height) / 250) <= n) ? ((width * height) / 250) : n)", "1", "1"}};
  const auto chosen = applyToLaunch(kernel_, captured, candidate);
  ASSERT_TRUE(chosen) << chosen.error().what;
  EXPECT_EQ(chosen->grid, (Dim3{400, 1, 1}));
  candidate.launch.grid = {{"width / 250", "1", "1"}};
  const auto unknown = applyToLaunch(kernel_, captured, candidate);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().what.find("no value for width"), std::string::npos)
      << unknown.error().what;
  candidate.launch.grid = {{"((width * height) / 250) / 2", "1", "1"}};
  kernel_.launches.push_back(kernel_.launches[0]);
  EXPECT_TRUE(applyToLaunch(kernel_, captured, candidate)) << "both sites launch it alike";
  kernel_.launches.back().grid[0] = "depth";
  EXPECT_FALSE(applyToLaunch(kernel_, captured, candidate))
      << "it is not known which site it is of";
}

TEST_F(ApplyCandidateTest, HostVariablesFollowFromWhatTheCapturedLaunchHad) {
  Launch captured = workload().launches[0];
  kernel_.launches[0].grid = {"(batch + 255) / 256", "1", "1"};
  kernel_.launches[0].block = {"length / 4", "1", "1"};
  kernel_.launches[0].sharedBytes = "length * 4";
  captured.buffers[0].fill.kind = FillKind::Captured;
  captured.grid = {40, 1, 1};
  captured.block = {512, 1, 1};
  captured.sharedBytes = 8192;
  captured.geometry = {{"40", "1", "1"}, {"512", "1", "1"}, "8192"};
  Candidate candidate;
  candidate.launch.sharedBytes = "((length + (length / 32)) + 1) * 4";
  candidate.launch.grid = {{"(batch + 511) / 512", "1", "1"}};
  const auto launch = applyToLaunch(kernel_, captured, candidate);
  ASSERT_TRUE(launch) << launch.error().what;
  EXPECT_EQ(launch->sharedBytes, 4 * (2048 + 64 + 1u));
  EXPECT_EQ(launch->grid.x, 20u) << "of 9985 to 10240";
  candidate.launch.grid = {{"(batch + 127) / 128", "1", "1"}};
  EXPECT_FALSE(applyToLaunch(kernel_, captured, candidate)) << "79 or 80";
}

TEST_F(ApplyCandidateTest, ConstantsKeepToTheDeclaredDomainsAndRequirements) {
  const TuneDeclaration declared =
      declaration({"param TILE in {16, 32, 64}", "require TILE * 4 <= n", "require n % 8 == 0"});
  kernel_.clauses = {{"require TILE * 4 <= n", path_, 7}};
  const auto broken = [&](std::int64_t tile, std::int64_t n) {
    Candidate candidate;
    candidate.constants["TILE"] = tile;
    Launch launch = workload().launches[0];
    launch.bindings["n"] = n;
    return brokenClause(declared, kernel_, {launch}, candidate).value_or("");
  };
  EXPECT_EQ(broken(64, 1000), "");
  EXPECT_EQ(broken(64, 1001), "") << "a requirement of the launch alone is not the candidate's";
  EXPECT_EQ(broken(48, 1000),
            "TILE = 48 is outside of 'param TILE in {16, 32, 64}' (" + path_ + ":1)");
  EXPECT_EQ(broken(64, 200), "'require TILE * 4 <= n' (" + path_ +
                                 ":7) does not hold with TILE = 64 in launch 'launch'");
}

TEST_F(ApplyCandidateTest, ExpressionsAreWrittenToTheLaunchSite) {
  kernel_.launches[0].args = {"x", "count * 2"};
  kernel_.launches[0].column = 3;
  Candidate candidate;
  candidate.launch.grid = {{"(n + 127) / 128", "2", "1"}};
  candidate.launch.block = {{"128", "1", "1"}};
  candidate.launch.sharedBytes = "n * 64";
  candidate.launch.largeShared = true;
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits) << edits.error().what;
  EXPECT_NE(patched(*edits).find("  cudaFuncSetAttribute(scale, "
                                 "cudaFuncAttributeMaxDynamicSharedMemorySize, count * 2 * 64),\n"
                                 "      scale<<<dim3((count * 2 + 127) / 128, 2), 128, "
                                 "count * 2 * 64>>>(x, n);"),
            std::string::npos)
      << patched(*edits);
  candidate.launch.grid = {{"ceil_div(n, 128)", "1", "1"}};
  EXPECT_NE(patched(*writeBackEdits(kernel_, specialization_, candidate))
                .find("scale<<<(count * 2 + 128 - 1) / 128, 128"),
            std::string::npos);
}

} // namespace
