// SPDX-License-Identifier: Apache-2.0
#include "driver/source/CandidateFile.h"
#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

SliceChunk chunk(ChunkRole role, const std::string &name) {
  return {{}, 0, 0, role, name, false, {}};
}

TEST(CandidateFile, OnlyWhatTheOriginalHasNotIsToBeHadThereFirst) {
  TuneSubject subject;
  subject.kernel.name = "k";
  subject.specialization.symbol = "_Z1kv";
  subject.specialization.chunks = {chunk(ChunkRole::Include, "cstdint"),
                                   chunk(ChunkRole::Kernel, "k")};
  ExtractionResult changed;
  changed.kernels = {subject.kernel};
  changed.kernels[0].specializations = {subject.specialization};
  const std::set<std::string> included = {"cstdint", "vector"};
  EXPECT_EQ(notTaken(subject, changed, included), "");
  std::vector<SliceChunk> &chunks = changed.kernels[0].specializations[0].chunks;
  chunks.push_back(chunk(ChunkRole::Include, "vector"));
  EXPECT_EQ(
      notTaken(subject, changed, included),
      "; the original's kernel needs nothing of <vector>, so a candidate has nothing of it either");
  chunks.push_back(chunk(ChunkRole::Include, "mma.h"));
  chunks.push_back(chunk(ChunkRole::Variable, "table"));
  EXPECT_EQ(
      notTaken(subject, changed, included),
      "; a candidate is device code, so of its file #include <mma.h>, variable 'table' were not "
      "taken: have it in the original first, or a table as a constexpr array within the kernel"
      "; the original's kernel needs nothing of <vector>, so a candidate has nothing of it either");
}

TEST(CandidateFile, IncludesAreReadAsTheyAreSpelled) {
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create("candidate-file"));
  const auto file = folder.path() / "user.cu", header = folder.path() / "user.cuh";
  ASSERT_TRUE(writeFileAtomically(file,
                                  "#include <cstdint>\n  # \t include \"user.cuh\" // <not>\n// "
                                  "#include <map>\nint include;\n#if 1\n#define X\n#"));
  ASSERT_TRUE(
      writeFileAtomically(header, "#pragma once\r\n#include<cooperative_groups/reduce.h>\r\n"));
  ExtractionResult original;
  original.fileHashes = {{file.string(), ""}, {header.string(), ""}, {"/nowhere/gone.cu", ""}};
  EXPECT_EQ(includesOf(original),
            (std::set<std::string>{"cstdint", "user.cuh", "cooperative_groups/reduce.h"}));
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
  const auto made = candidateFromFile(changed.subject, changed.file);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->refusal, "");
  EXPECT_EQ(made->candidate.chunks.at(1), "faster kernel");
}

TEST(CandidateFile, AChangedTypeIsARefusalNotAnError) {
  const Changed changed("struct S{int x;};", "kernel");
  const auto made = candidateFromFile(changed.subject, changed.file);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_NE(made->refusal.find("another type 'S'"), std::string::npos) << made->refusal;
}

TEST(CandidateFile, AFileWithoutTheKernelIsAnErrorOfTheCaller) {
  Changed changed("struct S{};", "kernel");
  changed.file.kernels[0].name = "other";
  const auto made = candidateFromFile(changed.subject, changed.file);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::Usage);
}

} // namespace
} // namespace kopt
