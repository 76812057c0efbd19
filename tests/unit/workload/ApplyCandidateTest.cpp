// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/ApplyCandidate.h"
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
  candidate.launch.block = Dim3{256, 1, 1};
  candidate.launch.coverGrid = true;
  const auto launch = applyToLaunch(kernel_, workload().launches[0], candidate);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->block.x, 256u);
  EXPECT_EQ(launch->grid.x, 4u); // 32 blocks of 32 threads
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  EXPECT_NE(
      patched(*edits).find(
          "scale<<<(dim3((n + TILE - 1) / TILE).x * dim3(TILE).x + 255) / 256, 256>>>(x, n);"),
      std::string::npos)
      << patched(*edits);
}

TEST_F(ApplyCandidateTest, ABlockOfMoreThan1024ThreadsIsNoLaunch) {
  Candidate candidate;
  candidate.constants["TILE"] = 2048;
  EXPECT_FALSE(applyToLaunch(kernel_, workload().launches[0], candidate));
}

} // namespace
