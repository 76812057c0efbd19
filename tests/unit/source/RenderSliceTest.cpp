// SPDX-License-Identifier: Apache-2.0
#include "driver/source/RenderSlice.h"
#include "driver/source/SourceEdits.h"
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

std::string applied(const std::string &text, const std::vector<SourceEdit> &edits) {
  const auto files = editsByFile(edits);
  EXPECT_TRUE(files);
  const auto result = applyEdits(text, files->begin()->second);
  EXPECT_TRUE(result);
  return *result;
}

Candidate withTable(const std::string &path) {
  Candidate candidate;
  candidate.chunks[1] = "__global__ void scale(float *x, int n) { x[kTable[0]] = n; }";
  candidate.includes = {{"<cuda_fp16.h>", false}, {"\"tile.cuh\"", true}};
  candidate.declarations = {{"constexpr int kOwn = 2;", 0, path},
                            {"__constant__ int kTable[1] = {7};", 1, ""},
                            {"struct Tile {};", 1, "/src/tile.cuh"}};
  return candidate;
}

TEST_F(RenderSliceTest, IncludesStandFirstAndDeclarationsBeforeTheirChunks) {
  const auto rendered = renderSlice(slice_, kernel_, specialization_, withTable(path_));
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->text,
            "#include <cuda_fp16.h>\n#include <cuda_runtime.h>\nconstexpr int kOwn = "
            "2;\n\nconstexpr int TILE = 32;\n__constant__ int kTable[1] = {7};\n\nstruct Tile "
            "{};\n\n__global__ void scale(float *x, int n) { x[kTable[0]] = n; }\n");
  ASSERT_EQ(rendered->declarations.size(), 3u);
  const auto [begin, end] = rendered->declarations[1];
  EXPECT_EQ(rendered->text.substr(begin, end - begin), "__constant__ int kTable[1] = {7};");
  EXPECT_EQ(rendered->text.substr(rendered->chunks[0].first, 9), "constexpr");
}

TEST_F(RenderSliceTest, ADeclarationStandsBeforeWhatTheSliceSaysOfAChunk) {
  const std::size_t kernel = specialization_.chunks[1].sliceBegin;
  const std::string line = "#line 2 \"scale.cu\"\n";
  slice_.insert(kernel, line);
  specialization_.chunks[1].sliceBegin += line.size();
  specialization_.chunks[1].sliceEnd += line.size();
  const auto rendered = renderSlice(slice_, kernel_, specialization_, withTable(path_));
  ASSERT_TRUE(rendered);
  EXPECT_NE(rendered->text.find("struct Tile {};\n\n#line 2 \"scale.cu\"\n__global__"),
            std::string::npos)
      << rendered->text;
}

TEST_F(RenderSliceTest, InItsOwnFileACandidateHasItsHeadersAndNothingTwice) {
  specialization_.route = Route::InPlace;
  const auto rendered = renderSlice(slice_, kernel_, specialization_, withTable(path_));
  ASSERT_TRUE(rendered);
  EXPECT_TRUE(rendered->text.starts_with("#include <cuda_fp16.h>\n#include \"tile.cuh\"\n"));
  EXPECT_EQ(rendered->text.find("kOwn"), std::string::npos);
  EXPECT_EQ(rendered->text.find("struct Tile"), std::string::npos);
  EXPECT_NE(rendered->text.find("kTable[1]"), std::string::npos);
}

TEST_F(RenderSliceTest, ThePatchHasEachIncludeAndTableOnce) {
  const auto edits = writeBackEdits(kernel_, specialization_, withTable(path_));
  ASSERT_TRUE(edits);
  EXPECT_EQ(applied(source_, *edits),
            "#include <cuda_fp16.h>\n#include \"tile.cuh\"\n\nconstexpr int TILE = "
            "32;\n__constant__ int kTable[1] = {7};\n\n__global__ void scale(float *x, int n) { "
            "x[kTable[0]] = n; }\n" +
                source_.substr(source_.find("void run")));
  // What the file includes already it does not include again.
  source_ = "#include <cuda_fp16.h>\n" + source_;
  EXPECT_TRUE(writeFileAtomically(path_, source_));
  for (SliceChunk &chunk : specialization_.chunks) {
    chunk.source.begin += 23;
    chunk.source.end += 23;
  }
  const auto again = writeBackEdits(kernel_, specialization_, withTable(path_));
  ASSERT_TRUE(again);
  EXPECT_TRUE(applied(source_, *again)
                  .starts_with("#include <cuda_fp16.h>\n#include \"tile.cuh\"\nconstexpr int TILE"))
      << applied(source_, *again);
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
