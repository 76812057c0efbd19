// SPDX-License-Identifier: Apache-2.0
#include "driver/source/RenderSlice.h"
#include "driver/source/Subjects.h"
#include "fakes/ScaleKernel.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using RenderSliceTest = ScaleKernel;

TEST_F(RenderSliceTest, TheEmptyCandidateRendersTheBaseline) {
  const auto rendered = renderSlice(slice_, kernel_, specialization_, {});
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->text, slice_);
  EXPECT_EQ(rendered->expression, "scale");
}

TEST_F(RenderSliceTest, DynamicSharedMemoryIsInsertedWhereTheLaunchHadNone) {
  Candidate candidate;
  candidate.launch.sharedBytes = 2048;
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  EXPECT_NE(patched(*edits).find("TILE, 2048>>>"), std::string::npos);
}

TEST_F(RenderSliceTest, ABlockFromAMacroCannotBeWrittenBack) {
  kernel_.launches[0].blockRange.reset();
  Candidate candidate;
  candidate.launch.block = Dim3{64, 1, 1};
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_FALSE(edits);
  EXPECT_EQ(edits.error().where, path_ + ":4");
}

TEST_F(RenderSliceTest, TemplateArgumentsFollowTheConstantsThatSpellThem) {
  specialization_.expression = "scale<32, float>";
  specialization_.templateArgs = {{"N", "32", true, range("TILE = 32")}, {"T", "float", false, {}}};
  specialization_.templateArgs[0].range =
      SourceRange{path_, source_.find("TILE>>>"), source_.find(">>>")};
  slice_ += "auto *instantiation = &scale<32, float>;\n";
  SliceChunk last;
  last.role = ChunkRole::Instantiation;
  last.sliceBegin = slice_.find("auto *instantiation");
  last.sliceEnd = slice_.size();
  specialization_.chunks.push_back(last);
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  const auto rendered = renderSlice(slice_, kernel_, specialization_, candidate);
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->expression, "scale<64, float>");
  EXPECT_NE(rendered->text.find("&scale<64, float>;"), std::string::npos);
}

TEST_F(RenderSliceTest, ATemplateArgumentFollowedToItsConstantChangesWithIt) {
  // SGEMM_CUDA's warptiling kernel: `const uint K10_BM = 128; … kernel<K10_BM>`, the range is the
  // 128.
  specialization_.expression = "scale<32>";
  specialization_.templateArgs = {{"N", "32", true, kernel_.constants[0].valueRange}};
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  const auto rendered = renderSlice(slice_, kernel_, specialization_, candidate);
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->expression, "scale<64>");
  const auto status = checkTunables(declaration({"param N in {32, 64}"}), kernel_, specialization_);
  ASSERT_FALSE(status); // one name for one thing: TILE
  EXPECT_NE(status.error().hint.find("TILE"), std::string::npos);
}

} // namespace
