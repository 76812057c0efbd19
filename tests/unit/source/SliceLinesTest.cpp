// SPDX-License-Identifier: Apache-2.0
#include "driver/source/SliceLines.h"

#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

constexpr const char *kFile = "#include <cmath>\n"              // 1
                              "\n"                              // 2
                              "constexpr int TILE = 8;\n"       // 3
                              "\n"                              // 4
                              "// a kernel\n"                   // 5
                              "__global__ void k(float *p) {\n" // 6
                              "  int i = threadIdx.x;\n"        // 7
                              "  p[i] = TILE;\n"                // 8
                              "}\n";                            // 9

class SliceLinesTest : public testing::Test {
protected:
  SliceLinesTest() : folder_(std::move(*TemporaryDirectory::create("kopt-lines"))) {
    file_ = (folder_.path() / "user.cu").string();
    EXPECT_TRUE(writeFileAtomically(file_, kFile));
    add("constexpr int TILE = 8;", ChunkRole::Constant);
    add("__global__ void k(float *p) {\n  int i = threadIdx.x;\n  p[i] = TILE;\n}",
        ChunkRole::Kernel);
  }
  void add(const std::string &text, ChunkRole role) {
    const std::size_t at = std::string(kFile).find(text);
    ASSERT_NE(at, std::string::npos);
    specialization_.chunks.push_back({{file_, at, at + text.size()}, 0, 0, role, "", true, {}});
  }
  /// A slice of these texts, one chunk each, each ended by a line.
  Result<SliceLines> linesOf(const std::vector<std::string> &texts,
                             const std::string &candidate = "") {
    std::string slice = "#include <cmath>\n";
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (const std::string &text : texts) {
      places.emplace_back(slice.size(), slice.size() + text.size());
      slice += text + "\n";
    }
    return SliceLines::make(slice, places, specialization_, candidate);
  }
  std::string show(const SliceLines &lines, unsigned line) {
    const auto at = lines.at(line);
    return at ? fmt::format("{}:{}", std::filesystem::path(at->file).filename().string(), at->line)
              : "nothing";
  }

  TemporaryDirectory folder_;
  std::string file_;
  Specialization specialization_;
};

const std::string kKernel =
    "__global__ void k(float *p) {\n  int i = threadIdx.x;\n  p[i] = TILE;\n}";

TEST_F(SliceLinesTest, ChunksAreWhereTheUserHasThem) {
  const auto lines = must(linesOf({"constexpr int TILE = 8;", kKernel}));
  EXPECT_EQ(show(lines, 1), "nothing"); // the slice's own
  EXPECT_EQ(show(lines, 2), "user.cu:3");
  EXPECT_EQ(show(lines, 3), "user.cu:6");
  EXPECT_EQ(show(lines, 5), "user.cu:8");
  EXPECT_EQ(show(lines, 6), "user.cu:9");
  EXPECT_EQ(show(lines, 0), "nothing");
  EXPECT_EQ(show(lines, 700), "nothing");
}

TEST_F(SliceLinesTest, AnotherValueOfAConstantIsOnTheSameLine) {
  const auto lines = must(linesOf({"constexpr int TILE = 16;", kKernel}));
  EXPECT_EQ(show(lines, 2), "user.cu:3");
}

TEST_F(SliceLinesTest, ChangedTextIsLookedForInTheCandidatesFile) {
  const std::string other = "__global__ void k(float *p) {\n  p[threadIdx.x] = twice(TILE);\n}";
  const std::string helper = "__device__ int twice(int n) { return 2 * n; }";
  const std::string candidate = (folder_.path() / "candidate.cu").string();
  ASSERT_TRUE(
      writeFileAtomically(candidate, "// mine\n" + helper + "\nint unrelated;\n" + other + "\n"));
  const auto lines = must(linesOf({"constexpr int TILE = 8;", helper + "\n\n" + other}, candidate));
  EXPECT_EQ(show(lines, 2), "user.cu:3");
  EXPECT_EQ(show(lines, 3), "candidate.cu:2");
  EXPECT_EQ(show(lines, 4), "nothing");
  EXPECT_EQ(show(lines, 5), "candidate.cu:4");
  EXPECT_EQ(show(lines, 6), "candidate.cu:5");
  const auto unknown = must(linesOf(
      {"constexpr int TILE = 8;", "__global__ void k(float *) {}\n\nint gone;\n\n\n\nint too;"},
      candidate));
  EXPECT_EQ(show(unknown, 3), "nothing");
  EXPECT_EQ(show(unknown, 2), "user.cu:3");
}

TEST_F(SliceLinesTest, ChangedTextIsWhereThePatchPutsIt) {
  Candidate candidate;
  candidate.chunks[0] = "constexpr int TILE = 8;\nconstexpr int HALF = TILE / 2;";
  candidate.chunks[1] = "__global__ void k(float *p) {\n  p[threadIdx.x] = HALF;\n}";
  RenderedSlice slice;
  slice.text = "#include <cmath>\n";
  for (const auto &[chunk, text] : candidate.chunks) {
    slice.chunks.emplace_back(slice.text.size(), slice.text.size() + text.size());
    slice.text += text + "\n";
  }
  const auto lines = must(SliceLines::inPatchedFiles(slice, {}, specialization_, candidate));
  EXPECT_EQ(show(lines, 1), "nothing");
  EXPECT_EQ(show(lines, 2), "user.cu:3");
  EXPECT_EQ(show(lines, 3), "user.cu:4");
  EXPECT_EQ(show(lines, 4), "user.cu:7"); // a line later than in the file as it is
  EXPECT_EQ(show(lines, 5), "user.cu:8");

  HotLines hot;
  hot.lines = {{"slice.cu", 5, "", 9, 0}, {"slice.cu", 1, "", 5, 0}, {"/other.h", 5, "", 1, 0}};
  lines.tell(hot, slice.text, "slice.cu");
  EXPECT_EQ(hot.lines[0].file, file_);
  EXPECT_EQ(hot.lines[0].line, 8u);
  EXPECT_EQ(hot.lines[0].text, "p[threadIdx.x] = HALF;");
  EXPECT_EQ(hot.lines[1].file, ""); // the slice's own
  EXPECT_EQ(hot.lines[1].text, "#include <cmath>");
  EXPECT_EQ(hot.lines[2].file, "/other.h");
  EXPECT_EQ(hot.lines[2].line, 5u);
  EXPECT_EQ(hot.lines[2].text, "");
  HotLines whole; // as a kernel that is built in its own file has them
  whole.lines = {{"/own.cu", 2, "", 1, 0}, {"/own.cu", 3, "", 1, 0}};
  lines.tell(whole, "#line 1 \"/own.cu\"\nfirst\n  second", "slice.cu");
  EXPECT_EQ(whole.lines[0].text, "second");
  EXPECT_EQ(whole.lines[0].file, "/own.cu");
  EXPECT_EQ(whole.lines[1].text, "");
}

TEST_F(SliceLinesTest, MessagesNameTheUsersLines) {
  const std::string changed = "__global__ void k(float *p) {\n  p[0] = TILE;\n}";
  const std::string candidate = (folder_.path() / "candidate.cu").string();
  ASSERT_TRUE(writeFileAtomically(candidate, "\n\n" + changed + "\n"));
  const auto lines = must(linesOf({"constexpr int TILE = 8;", changed}, candidate));
  EXPECT_EQ(lines.tell("read at slice.cu:4 (slice.cu:4:9), slice.cu:2"),
            "read at candidate.cu:4 (candidate.cu:4:9), user.cu:3");
  EXPECT_EQ(lines.tell("slice.cu:1, slice.cu:99, slice.cu:, my-slice.cu:4, a/slice.cu:4"),
            "slice.cu:1, slice.cu:99, slice.cu:, my-slice.cu:4, a/slice.cu:4");
  EXPECT_EQ(lines.tell("slice.cu(4): error: no"), "candidate.cu(4): error: no");
  EXPECT_EQ(lines.tell("the slice.cu"), "the slice.cu");
  EXPECT_EQ(lines.tell(""), "");
}

TEST_F(SliceLinesTest, FilesOfOneNameAreToldApartByTheirFolders) {
  const std::string changed = "__global__ void k(float *p) {\n  p[0] = TILE;\n}";
  const std::string candidate = (folder_.path() / "other" / "user.cu").string();
  ASSERT_TRUE(createDirectories(folder_.path() / "other"));
  ASSERT_TRUE(writeFileAtomically(candidate, changed));
  const auto lines = must(linesOf({"constexpr int TILE = 8;", changed}, candidate));
  EXPECT_EQ(lines.tell("slice.cu:4 and slice.cu:2"), candidate + ":2 and " + file_ + ":3");
}

TEST_F(SliceLinesTest, AChangedKernelWithoutItsFileHasNoLines) {
  const auto lines = must(linesOf({"constexpr int TILE = 8;", "__global__ void k(float *p) {\n}"}));
  EXPECT_EQ(show(lines, 3), "nothing");
}

TEST_F(SliceLinesTest, AFileThatIsGoneIsAnError) {
  specialization_.chunks[0].source.file = "/nowhere/user.cu";
  EXPECT_FALSE(linesOf({"constexpr int TILE = 8;", kKernel}));
}

} // namespace
} // namespace kopt
