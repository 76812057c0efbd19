// SPDX-License-Identifier: Apache-2.0
#include "driver/source/RenderSlice.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/SourceEdits.h"
#include "driver/source/Subjects.h"
#include "fakes/ScaleKernel.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using testing::HasSubstr;
using testing::Not;

using RenderSliceTest = ScaleKernel;

TEST_F(RenderSliceTest, TheEmptyCandidateRendersTheBaseline) {
  const auto rendered = must(renderSlice(slice_, kernel_, specialization_, {}));
  EXPECT_EQ(rendered.text, slice_);
  EXPECT_EQ(rendered.expression, "scale");
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
  const auto rendered = must(renderSlice(slice_, kernel_, specialization_, withTable(path_)));
  EXPECT_EQ(rendered.text,
            "#include <cuda_fp16.h>\n#include <cuda_runtime.h>\nconstexpr int kOwn = "
            "2;\n\nconstexpr int TILE = 32;\n__constant__ int kTable[1] = {7};\n\nstruct Tile "
            "{};\n\n__global__ void scale(float *x, int n) { x[kTable[0]] = n; }\n");
  ASSERT_EQ(rendered.declarations.size(), 3u);
  const auto [begin, end] = rendered.declarations[1];
  EXPECT_EQ(rendered.text.substr(begin, end - begin), "__constant__ int kTable[1] = {7};");
  EXPECT_EQ(rendered.text.substr(rendered.chunks[0].first, 9), "constexpr");
}

TEST_F(RenderSliceTest, ADeclarationStandsBeforeWhatTheSliceSaysOfAChunk) {
  const std::size_t kernel = specialization_.chunks[1].sliceBegin;
  const std::string line = "#line 2 \"scale.cu\"\n";
  slice_.insert(kernel, line);
  specialization_.chunks[1].sliceBegin += line.size();
  specialization_.chunks[1].sliceEnd += line.size();
  const auto rendered = must(renderSlice(slice_, kernel_, specialization_, withTable(path_)));
  EXPECT_THAT(rendered.text, HasSubstr("struct Tile {};\n\n#line 2 \"scale.cu\"\n__global__"));
}

TEST_F(RenderSliceTest, InItsOwnFileACandidateHasItsHeadersAndNothingTwice) {
  specialization_.route = Route::InPlace;
  const auto rendered = must(renderSlice(slice_, kernel_, specialization_, withTable(path_)));
  EXPECT_TRUE(rendered.text.starts_with("#include <cuda_fp16.h>\n#include \"tile.cuh\"\n"));
  EXPECT_THAT(rendered.text, Not(HasSubstr("kOwn")));
  EXPECT_THAT(rendered.text, Not(HasSubstr("struct Tile")));
  EXPECT_THAT(rendered.text, HasSubstr("kTable[1]"));
}

TEST_F(RenderSliceTest, ThePatchHasEachIncludeAndTableOnce) {
  const auto edits = must(writeBackEdits(kernel_, specialization_, withTable(path_)));
  EXPECT_EQ(applied(source_, edits),
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
  const auto again = must(writeBackEdits(kernel_, specialization_, withTable(path_)));
  EXPECT_TRUE(applied(source_, again)
                  .starts_with("#include <cuda_fp16.h>\n#include \"tile.cuh\"\nconstexpr int TILE"))
      << applied(source_, again);
}

TEST_F(RenderSliceTest, ThePatchLeavesTheClausesOnTheKernel) {
  Candidate candidate;
  candidate.declarations = {{"struct Tile {};", 1, ""}};
  const std::size_t kernel = source_.find("__global__");
  for (const std::string marks :
       {"KOPT_TUNE(\"param TILE in {8, 16}\", \"extent x = (n + 1)\")\n",
        "[[kopt::tune(\"extent x = n\")]] ", "  KOPT_TUNE(\"extent x = n\")\n  "}) {
    std::string marked = source_;
    marked.insert(kernel, marks);
    EXPECT_TRUE(writeFileAtomically(path_, marked));
    Specialization moved = specialization_;
    moved.chunks[1].source.begin += marks.size();
    moved.chunks[1].source.end += marks.size();
    const std::string text = applied(marked, must(writeBackEdits(kernel_, moved, candidate)));
    const std::size_t blanks = marks.find_first_not_of(' ');
    EXPECT_THAT(text,
                HasSubstr(marks.substr(0, blanks) + "struct Tile {};\n\n" + marks + "__global__"));
  }
}

TEST_F(RenderSliceTest, DynamicSharedMemoryIsInsertedWhereTheLaunchHadNone) {
  Candidate candidate;
  candidate.launch.sharedBytes = "2048";
  const auto edits = must(writeBackEdits(kernel_, specialization_, candidate));
  EXPECT_THAT(patched(edits), HasSubstr("TILE, 2048>>>"));
}

class LaunchEditTest : public RenderSliceTest {
protected:
  /// The host code after a new block, natural where that is possible. The first launch is of the
  /// kernel, with the site's expressions.
  std::string launched(const std::string &host, std::array<std::string, 3> grid,
                       std::array<std::string, 3> block, const Dim3 &newBlock,
                       std::optional<std::string> shared = {}) {
    const std::string kernel = lineAt(0) + "\n" + lineAt(1) + "\n";
    source_ = kernel + host;
    EXPECT_TRUE(writeFileAtomically(path_, source_));
    LaunchSite &site = kernel_.launches[0];
    site.grid = std::move(grid);
    site.block = std::move(block);
    std::vector<SourceRange> ranges;
    int depth = 0;
    for (std::size_t at = source_.find("<<<") + 3, begin = at; ranges.size() < 3; ++at) {
      depth += source_[at] == '(' ? 1 : source_[at] == ')' ? -1 : 0;
      if (depth != 0 || (source_[at] != ',' && source_[at] != '>'))
        continue;
      ranges.push_back({path_, begin, at});
      begin = at + 2;
      if (source_[at] == '>')
        break;
    }
    site.gridRange = ranges.at(0);
    site.blockRange = ranges.at(1);
    for (LaunchSite &other : kernel_.launches)
      other.blockRange = site.blockRange;
    site.sharedRange =
        ranges.size() > 2 ? std::optional<SourceRange>(ranges[2]) : std::optional<SourceRange>();
    Candidate candidate;
    candidate.launch.sharedBytes = shared;
    writeNaturally(site, newBlock, candidate.launch);
    const auto edits = writeBackEdits(kernel_, specialization_, candidate);
    EXPECT_TRUE(edits) << (edits ? "" : edits.error().what);
    return edits ? applied(source_, *edits).substr(kernel.size()) : "";
  }
};

TEST_F(LaunchEditTest, NumbersStayNumbers) {
  EXPECT_EQ(launched("void f() { k<<<(n + 255) / 256, 256>>>(x); }\n",
                     {"((n + 255) / 256)", "1", "1"}, {"256", "1", "1"}, {64, 1, 1}),
            "void f() { k<<<(n + 63) / 64, 64>>>(x); }\n");
  EXPECT_EQ(launched("void f() { k<<<dim3((h + 15) / 16, (w + 15) / 16), dim3(16, 16)>>>(x); }\n",
                     {"((h + 15) / 16)", "((w + 15) / 16)", "1"}, {"16", "16", "1"}, {1, 256, 1}),
            "void f() { k<<<dim3(h, (w + 255) / 256), dim3(1, 256)>>>(x); }\n");
}

TEST_F(LaunchEditTest, AConstantThatFeedsTheLaunchAloneChanges) {
  const std::array<std::string, 3> grid{"(((n + 256) - 1) / 256)", "1", "1"},
      block{"256", "1", "1"};
  for (const std::string before :
       {"void f() {\n  const int threads = 256;\n  k<<<(n + threads - 1) / threads, "
        "threads>>>(x);\n}\n",
        "void f() {\n  const int threads = 256, blocks = (n + threads - 1) / threads;\n"
        "  k<<<blocks, threads>>>(x);\n}\n",
        "constexpr int threads = 256;\nvoid f() { k<<<(n + threads - 1) / threads, threads>>>(x); "
        "}\n",
        "void g() { int threads = 3; }\nvoid f() {\n  dim3 threads(256);\n"
        "  dim3 grid((n + threads.x - 1) / threads.x);\n  k<<<grid, threads, threads.x * "
        "4>>>(x);\n}\n"})
    EXPECT_EQ(launched(before, grid, block, {64, 1, 1},
                       before.find("* 4") == before.npos ? std::nullopt
                                                         : std::optional<std::string>("256")),
              before.substr(0, before.find("256")) + "64" + before.substr(before.find("256") + 3));
}

TEST_F(LaunchEditTest, AVariableThatNothingElseUsesIsNotLeftUnused) {
  EXPECT_EQ(launched("void f() {\n  dim3 grid((h + 15) / 16, (w + 15) / 16), block(16, 16);\n"
                     "  k<<<grid, block>>>(x);\n  k<<<grid, block>>>(y);\n}\n",
                     {"((h + 15) / 16)", "((w + 15) / 16)", "1"}, {"16", "16", "1"}, {32, 8, 1}),
            "void f() {\n  dim3 grid((h + 15) / 16, (w + 15) / 16), block(16, 16);\n"
            "  k<<<dim3((h + 31) / 32, (w + 7) / 8), dim3(32, 8)>>>(x);\n"
            "  k<<<grid, block>>>(y);\n}\n")
      << "the second launch is another kernel's";
  EXPECT_EQ(launched("void f() {\n  dim3 grid((h + 15) / 16, (w + 15) / 16), block(16, 16);\n"
                     "  k<<<grid, block>>>(x);\n}\n",
                     {"((h + 15) / 16)", "((w + 15) / 16)", "1"}, {"16", "16", "1"}, {32, 8, 1}),
            "void f() {\n  dim3 grid((h + 31) / 32, (w + 7) / 8), block(32, 8);\n"
            "  k<<<grid, block>>>(x);\n}\n");
}

TEST_F(LaunchEditTest, WhatElseUsesAConstantKeepsIt) {
  const std::array<std::string, 3> grid{"(((n + 256) - 1) / 256)", "1", "1"},
      block{"256", "1", "1"};
  EXPECT_EQ(launched("void f() {\n  int t = 256;\n  k<<<(n + t - 1) / t, t>>>(x);\n  log(t);\n}\n",
                     grid, block, {64, 1, 1}),
            "void f() {\n  int t = 256;\n  k<<<(n + 63) / 64, 64>>>(x);\n  log(t);\n}\n");
  EXPECT_EQ(
      launched("void g(int t) { int t = 256; }\nvoid f(int t) { k<<<(n + t - 1) / t, t>>>(x); }\n",
               grid, block, {64, 1, 1}),
      "void g(int t) { int t = 256; }\nvoid f(int t) { k<<<(n + 63) / 64, 64>>>(x); }\n");
}

TEST_F(LaunchEditTest, ALaunchThatInstantiationsShareIsChangedInItsArguments) {
  const std::string host = "void f() {\n  int t = 256;\n  k<<<(n + t - 1) / t, t>>>(x);\n}\n";
  const std::array<std::string, 3> grid{"(((n + 256) - 1) / 256)", "1", "1"},
      block{"256", "1", "1"};
  EXPECT_THAT(launched(host, grid, block, {64, 1, 1}), HasSubstr("t = 64"));
  kernel_.launches.push_back(kernel_.launches[0]);
  kernel_.launches[1].symbol = "_Z5scaleIdEvPT_i";
  EXPECT_THAT(launched(host, grid, block, {64, 1, 1}),
              HasSubstr("t = 256;\n  k<<<(n + 63) / 64, 64>>>"));
}

TEST_F(LaunchEditTest, AGridOfAnotherFormCoversTheSameThreads) {
  EXPECT_EQ(launched("void f(int blocks) { k<<<blocks, 256>>>(x); }\n", {"blocks", "1", "1"},
                     {"256", "1", "1"}, {64, 1, 1}),
            "void f(int blocks) { k<<<(blocks * 256 + 63) / 64, 64>>>(x); }\n");
  EXPECT_EQ(launched("void f(dim3 g) { k<<<g, dim3(16, 4 * a)>>>(x); }\n", {"g.x", "g.y", "1"},
                     {"16", "(4 * a)", "1"}, {32, 8, 1}),
            "void f(dim3 g) { k<<<dim3((g.x * 16 + 31) / 32, (g.y * (4 * a) + 7) / 8), "
            "dim3(32, 8)>>>(x); }\n");
}

TEST_F(RenderSliceTest, ABlockFromAMacroCannotBeWrittenBack) {
  kernel_.launches[0].blockRange.reset();
  Candidate candidate;
  candidate.launch.block = {{"64", "1", "1"}};
  EXPECT_THAT(writeBackEdits(kernel_, specialization_, candidate), fails({.where = path_ + ":4"}));
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
  const auto rendered = must(renderSlice(slice_, kernel_, specialization_, candidate));
  EXPECT_EQ(rendered.expression, "scale<64, float>");
  EXPECT_THAT(rendered.text, HasSubstr("&scale<64, float>;"));
}

TEST_F(RenderSliceTest, ATemplateArgumentFollowedToItsConstantChangesWithIt) {
  // SGEMM_CUDA's warptiling kernel: `const uint K10_BM = 128; … kernel<K10_BM>`, the range is the
  // 128.
  specialization_.expression = "scale<32>";
  specialization_.templateArgs = {{"N", "32", true, kernel_.constants[0].valueRange}};
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  const auto rendered = must(renderSlice(slice_, kernel_, specialization_, candidate));
  EXPECT_EQ(rendered.expression, "scale<64>");
  const auto status = checkTunables(declaration({"param N in {32, 64}"}), kernel_, specialization_);
  ASSERT_FALSE(status); // one name for one thing: TILE
  EXPECT_THAT(status.error().hint, HasSubstr("TILE"));
}

} // namespace
