// SPDX-License-Identifier: Apache-2.0
#include "driver/app/TrialFlow.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

SliceChunk chunk(const std::string &role, const std::string &name) {
  return {{}, 0, 0, role, name, false};
}

TEST(JudgeFile, OnlyWhatTheOriginalHasNotIsToBeHadThereFirst) {
  TuneSubject subject;
  subject.kernel.name = "k";
  subject.specialization.symbol = "_Z1kv";
  subject.specialization.chunks = {chunk("include", "cstdint"), chunk("kernel", "k")};
  ExtractionResult changed;
  changed.kernels = {subject.kernel};
  changed.kernels[0].specializations = {subject.specialization};
  const std::set<std::string> included = {"cstdint", "vector"};
  EXPECT_EQ(notTaken(subject, changed, included), "");
  std::vector<SliceChunk> &chunks = changed.kernels[0].specializations[0].chunks;
  chunks.push_back(chunk("include", "vector"));
  EXPECT_EQ(
      notTaken(subject, changed, included),
      "; the original's kernel needs nothing of <vector>, so a candidate has nothing of it either");
  chunks.push_back(chunk("include", "mma.h"));
  chunks.push_back(chunk("variable", "table"));
  EXPECT_EQ(
      notTaken(subject, changed, included),
      "; a candidate is device code, so of its file #include <mma.h>, variable 'table' were not "
      "taken: have it in the original first, or a table as a constexpr array within the kernel"
      "; the original's kernel needs nothing of <vector>, so a candidate has nothing of it either");
}

TEST(JudgeFile, IncludesAreReadAsTheyAreSpelled) {
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create("judge-file"));
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

} // namespace
} // namespace kopt
