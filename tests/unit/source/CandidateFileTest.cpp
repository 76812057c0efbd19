// SPDX-License-Identifier: Apache-2.0
#include "driver/source/candidate/CandidateFile.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::HasSubstr;

/// A subject and a candidate's file, each a slice of these texts, with the same texts in files.
class CandidateFileTest : public testing::Test {
protected:
  struct Part {
    ChunkRole role;
    std::string name, text;
    std::vector<OutsideUser> users = {};
    std::string file = ""; ///< another one than the unit
    bool needed = true;
  };

  CandidateFileTest() {
    subject_.kernel.name = "k";
    subject_.kernel.unit = (folder_.path() / "user.cu").string();
    subject_.kernel.directory = folder_.path().string();
    subject_.specialization.symbol = "_Z1kv";
  }
  static bool isEditable(ChunkRole role) {
    return role == ChunkRole::Kernel || role == ChunkRole::Function || role == ChunkRole::Macro ||
           role == ChunkRole::Constant;
  }
  /// The slice of `parts`, laid out in `to`.
  std::string lay(const std::vector<Part> &parts, const std::string &unit, Specialization &to) {
    std::string text;
    to.chunks.clear();
    for (const Part &part : parts) {
      SliceChunk chunk;
      chunk.source.file = part.file.empty() ? unit : part.file;
      chunk.sliceBegin = text.size();
      text += part.text;
      chunk.sliceEnd = text.size();
      text += "\n";
      chunk.role = part.role;
      chunk.name = part.name;
      chunk.editable = isEditable(part.role);
      chunk.users = part.users;
      chunk.needed = part.needed;
      if (part.role == ChunkRole::Kernel)
        to.kernelChunk = to.chunks.size();
      to.chunks.push_back(chunk);
    }
    return text;
  }
  std::string fileOf(const std::string &name, const std::string &text) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(writeFileAtomically(path, text));
    return path.string();
  }
  /// The user's file has `unused` before what its slice has.
  void original(const std::string &includes, const std::vector<Part> &unused,
                const std::vector<Part> &slice) {
    std::string text = includes;
    for (const Part &part : unused) {
      SliceChunk chunk;
      chunk.source = {subject_.kernel.unit, text.size(), text.size() + part.text.size()};
      chunk.role = part.role;
      chunk.name = part.name;
      chunk.users = part.users;
      subject_.kernel.unused.push_back(chunk);
      text += part.text + "\n";
    }
    subject_.sliceText = lay(slice, subject_.kernel.unit, subject_.specialization);
    fileOf("user.cu", text + subject_.sliceText);
    original_.kernels = {subject_.kernel};
    original_.fileHashes = {{subject_.kernel.unit, ""}};
  }
  FileCandidate made(const std::vector<Part> &slice, const std::string &includes = "") {
    KernelSpec kernel = subject_.kernel;
    kernel.unit = (folder_.path() / "candidate.cu").string();
    Specialization other = subject_.specialization;
    other.constantVariables = constantVariables_;
    const std::string text = lay(slice, kernel.unit, other);
    fileOf("candidate.cu", includes + text);
    other.slice = fileOf("slice.cu", text);
    kernel.specializations = {other};
    ExtractionResult changed;
    changed.kernels = {kernel};
    changed.fileHashes = {{kernel.unit, ""}};
    for (const Part &part : slice)
      if (!part.file.empty())
        changed.fileHashes[part.file] = "";
    const auto candidate = candidateFromFile(subject_, original_, changed);
    EXPECT_TRUE(candidate) << (candidate ? "" : candidate.error().what);
    return candidate ? *candidate : FileCandidate{};
  }
  static Part kernel(const std::string &text) { return {ChunkRole::Kernel, "k", text}; }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("candidate-file"));
  TuneSubject subject_;
  ExtractionResult original_;
  std::vector<ConstantVariable> constantVariables_;
};

TEST_F(CandidateFileTest, WhatTheUsersFileHasIsTakenAndNotWritten) {
  const Part tile{ChunkRole::Constant, "TILE", "constexpr int TILE = 32;"};
  original("", {tile}, {kernel("old")});
  const FileCandidate own = made({tile, kernel("new")});
  EXPECT_EQ(own.refusal, "");
  ASSERT_EQ(own.candidate.declarations.size(), 1u);
  EXPECT_EQ(own.candidate.declarations[0].text, tile.text);
  EXPECT_EQ(own.candidate.declarations[0].file, subject_.kernel.unit);
  EXPECT_EQ(own.candidate.chunks.at(0), "new");

  const FileCandidate changed =
      made({{ChunkRole::Constant, "TILE", "constexpr int TILE = 64;"}, kernel("new")});
  EXPECT_THAT(changed.refusal, HasSubstr("changes constant 'TILE' (" + subject_.kernel.unit +
                                         ":1), which the original's kernel does not use"));
}

TEST_F(CandidateFileTest, NewDeclarationsStandWhereTheyStoodInTheirFile) {
  const Part helper{ChunkRole::Function, "a::half", "half"};
  original("", {}, {{ChunkRole::Type, "S", "struct S{};"}, helper, kernel("old")});
  const FileCandidate taken = made({{ChunkRole::Type, "S", "struct S{};"},
                                    {ChunkRole::Variable, "a::kTable", "table"},
                                    {ChunkRole::Function, "a::half", "half of the table"},
                                    {ChunkRole::Alias, "cg", "namespace cg = x;"},
                                    {ChunkRole::Function, "b::more", "more"},
                                    {ChunkRole::Macro, "HALF", "#define HALF"},
                                    kernel("new")});
  EXPECT_EQ(taken.refusal, "");
  const auto &declarations = taken.candidate.declarations;
  ASSERT_EQ(declarations.size(), 4u);
  EXPECT_EQ(declarations[0], (CandidateDeclaration{"table", 1, ""}));
  EXPECT_EQ(declarations[1], (CandidateDeclaration{"namespace cg = x;", 2, ""}));
  EXPECT_EQ(declarations[2], (CandidateDeclaration{"namespace b {\nmore\n}", 2, ""}));
  EXPECT_EQ(declarations[3], (CandidateDeclaration{"#define HALF", 2, ""}));
  EXPECT_EQ(taken.candidate.chunks.at(1), "half of the table");
}

TEST_F(CandidateFileTest, OverloadsAreToldApartByTheirText) {
  const Part one{ChunkRole::Function, "f", "f(int)"}, two{ChunkRole::Function, "f", "f(float)"};
  original("", {}, {one, two, kernel("old")});
  const FileCandidate same = made({one, two, kernel("new")});
  EXPECT_EQ(same.candidate.chunks.size(), 1u);
  const FileCandidate changed = made({{ChunkRole::Function, "f", "f(int) faster"},
                                      two,
                                      {ChunkRole::Function, "f", "f(double)"},
                                      kernel("new")});
  EXPECT_EQ(changed.candidate.chunks.at(0), "f(int) faster");
  EXPECT_EQ(changed.candidate.chunks.size(), 2u);
  ASSERT_EQ(changed.candidate.declarations.size(), 1u);
  EXPECT_EQ(changed.candidate.declarations[0].text, "f(double)");
}

TEST_F(CandidateFileTest, AnOverloadOfTheUsersFileDoesNotChangeTheOneThatWasUsed) {
  const Part used{ChunkRole::Function, "f", "f(int)"}, other{ChunkRole::Function, "f", "f(float)"};
  original("", {other}, {used, kernel("old")});
  const FileCandidate taken = made({other, kernel("new")});
  EXPECT_EQ(taken.refusal, "");
  EXPECT_FALSE(taken.candidate.chunks.contains(0));
  ASSERT_EQ(taken.candidate.declarations.size(), 1u);
  EXPECT_EQ(taken.candidate.declarations[0].text, "f(float)");
  EXPECT_EQ(taken.candidate.declarations[0].file, subject_.kernel.unit);
}

TEST_F(CandidateFileTest, NewIncludesAreTakenAndTheOriginalsWhereTheyAreNeeded) {
  original("#include <cstdio>\n#include <vector>\n", {}, {kernel("old")});
  const auto include = [](const std::string &name, bool needed) {
    return Part{ChunkRole::Include, name, "#include <" + name + "> // why", {}, "", needed};
  };
  const FileCandidate taken =
      made({include("cooperative_groups.h", true), include("cstdio", false),
            include("vector", true), include("chrono", false), kernel("new")});
  ASSERT_EQ(taken.candidate.includes.size(), 3u);
  EXPECT_EQ(taken.candidate.includes[0], (CandidateInclude{"<cooperative_groups.h>", false}));
  EXPECT_EQ(taken.candidate.includes[1].header, "<vector>");
  EXPECT_EQ(taken.candidate.includes[2].header, "<chrono>");
}

TEST_F(CandidateFileTest, OfANewHeaderOfTheUsersThePatchHasTheIncludeAlone) {
  original("", {}, {kernel("old")});
  const std::string header = fileOf("lib/tile.cuh", "struct Tile {};");
  const FileCandidate taken =
      made({{ChunkRole::Type, "Tile", "struct Tile {};", {}, header}, kernel("new")},
           "#include \"lib/tile.cuh\"\n#include <vector>\n");
  ASSERT_EQ(taken.candidate.declarations.size(), 1u);
  EXPECT_EQ(taken.candidate.declarations[0].file, header);
  ASSERT_EQ(taken.candidate.includes.size(), 1u);
  EXPECT_EQ(taken.candidate.includes[0], (CandidateInclude{"\"lib/tile.cuh\"", true}));
  // One that the user's file would not find is written.
  const auto elsewhere = std::move(*TemporaryDirectory::create("elsewhere"));
  const FileCandidate copied =
      made({{ChunkRole::Type, "Tile", "struct Tile {};", {}, (elsewhere.path() / "t.cuh").string()},
            kernel("new")});
  EXPECT_EQ(copied.candidate.declarations.at(0).file, "");
  EXPECT_TRUE(copied.candidate.includes.empty());
}

TEST_F(CandidateFileTest, AVariableThatHostCodeSetsIsRefused) {
  original("", {}, {kernel("old")});
  EXPECT_THAT(
      made({{ChunkRole::Variable, "taps", "taps", {{"main", "c.cu", 12, true}}}, kernel("new")})
          .refusal,
      HasSubstr("host code ('main', c.cu:12) uses variable 'taps'"));
  EXPECT_EQ(
      made({{ChunkRole::Variable, "taps", "taps", {{"other", "c.cu", 12, false}}}, kernel("new")})
          .refusal,
      "");
  constantVariables_ = {{"taps", "taps", 4, "float", "f32"}};
  EXPECT_THAT(made({{ChunkRole::Variable, "n::taps", "taps"}, kernel("new")}).refusal,
              HasSubstr("variable 'n::taps' has no values where it is declared"));
}

/// A subject whose slice is "struct S {}; kernel", and a candidate's file with other text.
struct Changed {
  Changed(const std::string &type, const std::string &kernel)
      : folder(std::move(*TemporaryDirectory::create("candidate-file"))) {
    subject.kernel.name = "k";
    subject.specialization.symbol = "_Z1kv";
    subject.sliceText = lay(subject.specialization, "struct S{};", "kernel");
    file.kernels = {subject.kernel};
    Specialization other = subject.specialization;
    const std::string text = lay(other, type, kernel);
    other.slice = (folder.path() / "slice.cu").string();
    EXPECT_TRUE(writeFileAtomically(other.slice, text));
    file.kernels[0].specializations = {other};
  }
  static std::string lay(Specialization &to, const std::string &type, const std::string &kernel) {
    const std::size_t end = type.size();
    to.chunks = {{{}, 0, end, ChunkRole::Type, "S", false, {}},
                 {{}, end, end + kernel.size(), ChunkRole::Kernel, "k", true, {}}};
    to.kernelChunk = 1;
    return type + kernel;
  }
  TemporaryDirectory folder;
  TuneSubject subject;
  ExtractionResult file;
};

TEST(CandidateFile, ChangedKernelTextIsTheCandidate) {
  const Changed changed("struct S{};", "faster kernel");
  const auto made = must(candidateFromFile(changed.subject, {}, changed.file));
  EXPECT_EQ(made.refusal, "");
  EXPECT_EQ(made.candidate.chunks.at(1), "faster kernel");
}

TEST(CandidateFile, AChangedTypeIsARefusalNotAnError) {
  const Changed changed("struct S{int x;};", "kernel");
  const auto made = must(candidateFromFile(changed.subject, {}, changed.file));
  EXPECT_THAT(made.refusal, HasSubstr("changes type 'S'"));
}

TEST(CandidateFile, AFileWithoutTheKernelIsAnErrorOfTheCaller) {
  Changed changed("struct S{};", "kernel");
  changed.file.kernels[0].name = "other";
  EXPECT_THAT(candidateFromFile(changed.subject, {}, changed.file),
              fails({.code = ErrorCode::Usage}));
}

} // namespace
} // namespace kopt
