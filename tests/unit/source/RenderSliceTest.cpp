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

TEST_F(RenderSliceTest, OptionsOfTheCompilerAreThoseOfTheFile) {
  Candidate candidate;
  candidate.options = CompilerOptions{.maxRegisters = 64, .loadCache = LoadCache::Cg};
  const auto rendered = must(renderSlice(slice_, kernel_, specialization_, candidate));
  EXPECT_EQ(rendered.text, slice_);
  EXPECT_THAT(rendered.flags, testing::ElementsAre("-maxrregcount=64", "-Xptxas=-dlcm=cg"));
  EXPECT_THAT(writeBackEdits(kernel_, specialization_, candidate),
              fails({.code = ErrorCode::Usage, .what = HasSubstr("is in a header")}));
  kernel_.unit = path_;
  const std::string comment = "/* compiled with -maxrregcount=64 -Xptxas=-dlcm=cg */ ";
  const auto whole = [&] {
    return applied(source_, must(writeBackEdits(kernel_, specialization_, candidate)));
  };
  EXPECT_THAT(whole(), HasSubstr("32;\n" + comment + "__global__ void scale("));
  candidate.chunks[1] = "__global__ void scale(float *x, int n) {}";
  EXPECT_THAT(whole(), HasSubstr("32;\n" + comment + candidate.chunks[1] + "\nvoid run("));
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
    write(host, std::move(grid), std::move(block));
    Candidate candidate;
    candidate.launch.sharedBytes = shared;
    writeNaturally(kernel_.launches[0], newBlock, candidate.launch);
    return changed(candidate);
  }

  /// The host code after the grid has become that along x.
  std::string withGrid(const std::string &along) {
    Candidate candidate;
    candidate.launch.grid = {{along, "gridDim.y", "gridDim.z"}};
    return changed(candidate);
  }

  std::string changed(const Candidate &candidate) const {
    const auto edits = writeBackEdits(kernel_, specialization_, candidate);
    EXPECT_TRUE(edits) << (edits ? "" : edits.error().what);
    return edits ? applied(source_, *edits).substr(kernelText().size()) : "";
  }

  std::string kernelText() const { return lineAt(0) + "\n" + lineAt(1) + "\n"; }

  /// Writes the host code behind the kernel, whose first launch is its first.
  void write(const std::string &host, std::array<std::string, 3> grid,
             std::array<std::string, 3> block) {
    source_ = kernelText() + host;
    EXPECT_TRUE(writeFileAtomically(path_, source_));
    LaunchSite &site = kernel_.launches[0];
    site.grid = std::move(grid);
    site.block = std::move(block);
    readArguments(site, 0);
    for (LaunchSite &other : kernel_.launches)
      other.blockRange = site.blockRange;
  }

  /// Sets the arguments of the site's launch, the first from there on, and their variables, in
  /// whose initializers n, h and w can be named.
  void readArguments(LaunchSite &site, std::size_t from) const {
    std::vector<SourceRange> ranges;
    int depth = 0;
    for (std::size_t at = source_.find("<<<", from) + 3, begin = at; ranges.size() < 3; ++at) {
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
    site.sharedRange =
        ranges.size() > 2 ? std::optional<SourceRange>(ranges[2]) : std::optional<SourceRange>();
    site.gridVariable = variableAt(ranges[0]);
    site.blockVariable = variableAt(ranges[1]);
  }

  /// The last variable of that name before the argument, wherever it is declared.
  std::optional<LaunchVariable> variableAt(const SourceRange &argument) const {
    const std::string name = source_.substr(argument.begin, argument.end - argument.begin);
    std::optional<LaunchVariable> found;
    for (const std::string open : {"(", " = "})
      for (std::size_t at = source_.find(name + open); at < argument.begin;
           at = source_.find(name + open, at + 1)) {
        if (source_[at - 1] != ' ')
          continue;
        LaunchVariable variable{{path_, at + name.size() + open.size(), 0}, {"n", "h", "w"}};
        std::uint64_t &end = variable.value.end;
        int depth = 0;
        for (end = variable.value.begin;
             depth > 0 || std::string_view(open == "(" ? ")" : ",;").find(source_[end]) ==
                              std::string_view::npos;
             ++end)
          depth += source_[end] == '(' ? 1 : source_[end] == ')' ? -1 : 0;
        if (!found || found->value.begin < variable.value.begin)
          found = variable;
      }
    return found;
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

TEST_F(LaunchEditTest, AGridThatNamesWhatIsNotAtItsVariableIsWrittenAtTheLaunch) {
  const std::string declared = "void f(int n, int h) {\n  dim3 grid(n / 250), block(250);\n",
                    loop = "  for (int t = 0; t < h; ++t) {\n    int left = h - t;\n";
  write(declared + loop + "    k<<<grid, block>>>(x, left);\n  }\n}\n", {"(n / 250)", "1", "1"},
        {"250", "1", "1"});
  std::string &passed = kernel_.launches[0].args.at(1);
  passed = "left";
  EXPECT_EQ(withGrid("min(gridDim.x, n)"),
            declared + loop + "    k<<<min(n / 250, left), block>>>(x, left);\n  }\n}\n");
  passed = "TILE"; // a constant before it
  EXPECT_THAT(withGrid("min(gridDim.x, n)"), HasSubstr("dim3 grid(min(n / 250, TILE)), block("));
  passed = "h";
  EXPECT_THAT(withGrid("min(gridDim.x, n)"), HasSubstr("dim3 grid(min(n / 250, h)), block("));
  for (const std::string unsettled : {"h->size", "h[0]", "h.size()", "other::h", "hOf(n)"}) {
    passed = unsettled;
    EXPECT_THAT(withGrid("min(gridDim.x, n)"), HasSubstr(declared)) << unsettled;
  }
  kernel_.launches[0].gridVariable->settled.clear();
  passed = "h";
  EXPECT_THAT(withGrid("min(gridDim.x, n)"), HasSubstr("k<<<min(n / 250, h), block>>>"));
  // Numbers mean the same everywhere.
  EXPECT_THAT(withGrid("40"), HasSubstr("dim3 grid(40), block(250);"));
}

TEST_F(LaunchEditTest, AVariableOfLaunchesWithOtherGridsStays) {
  const std::string declared = "void f(int n, int h, int w) {\n  dim3 grid(n / 250), block(250);\n";
  write(declared + "  k<<<grid, block>>>(x, h);\n  k<<<grid, block>>>(x, w);\n}\n",
        {"(n / 250)", "1", "1"}, {"250", "1", "1"});
  kernel_.launches.resize(1);
  kernel_.launches[0].args = {"x", "h"};
  kernel_.launches.push_back(kernel_.launches[0]);
  readArguments(kernel_.launches[1], source_.rfind("k<<<"));
  EXPECT_EQ(withGrid("min(gridDim.x, n)"),
            "void f(int n, int h, int w) {\n  dim3 grid(min(n / 250, h)), block(250);\n"
            "  k<<<grid, block>>>(x, h);\n  k<<<grid, block>>>(x, w);\n}\n");
  kernel_.launches[1].args[1] = "w";
  EXPECT_EQ(withGrid("min(gridDim.x, n)"), declared +
                                               "  k<<<min(n / 250, h), block>>>(x, h);\n"
                                               "  k<<<min(n / 250, w), block>>>(x, w);\n}\n");
}

TEST_F(LaunchEditTest, ALongGridIsWrittenOnSeveralLines) {
  write("void f(int n, int h) {\n  k<<<n / 250, 250>>>(x, columnsOfTheWholeMatrix);\n}\n",
        {"(n / 250)", "1", "1"}, {"250", "1", "1"});
  kernel_.launches[0].args = {"x", "columnsOfTheWholeMatrix"};
  EXPECT_EQ(withGrid("0 <= n - 1 && (n - 1) / (blockDim.x) < gridDim.x ? (n - 1) / (blockDim.x) + 1"
                     " : gridDim.x"),
            "void f(int n, int h) {\n  k<<<0 <= columnsOfTheWholeMatrix - 1 &&\n"
            "      (columnsOfTheWholeMatrix - 1) / 250 < n / 250\n"
            "          ? (columnsOfTheWholeMatrix - 1) / 250 + 1\n"
            "          : n / 250, 250>>>(x, columnsOfTheWholeMatrix);\n}\n");
  Candidate candidate;
  const std::string many = "(n - 1) / 32 + (n - 1) % 32";
  candidate.launch.grid = {{many, many, "max(1, n)"}};
  EXPECT_THAT(changed(candidate), HasSubstr("k<<<dim3((columnsOfTheWholeMatrix - 1) / 32 + "
                                            "(columnsOfTheWholeMatrix - 1) % 32,\n"
                                            "           (columnsOf"));
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
