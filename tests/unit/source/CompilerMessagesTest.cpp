// SPDX-License-Identifier: Apache-2.0
#include "driver/source/CompilerMessages.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <gmock/gmock.h>

using namespace kopt;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

std::string manyErrors() {
  std::string log = "slice.cu:1:2: warning: odd\n";
  for (int i = 0; i < 300; ++i)
    log += "In file included from slice.cu:2:\nvector_types.h:" + std::to_string(100 + i) +
           ":8: error: redefinition of 'char1'\n  struct char1\n         ^\nother.h:7:8: note: "
           "previous definition is here\n  7 | struct char1\n    |        ^\n";
  return log;
}

TEST(CompilerMessages, TheFirstErrorIsCompleteAndTheOthersAreCounted) {
  EXPECT_EQ(firstError(manyErrors()),
            "In file included from slice.cu:2:\nvector_types.h:100:8: error: redefinition of "
            "'char1'\n  struct char1\n         ^\nother.h:7:8: note: previous definition is "
            "here\n  7 | struct char1\n    |        ^\n… and 299 more errors");
  EXPECT_EQ(firstError("a.cu(3): error: x\n\n1 error detected\n"),
            "a.cu(3): error: x\n\n1 error detected");
}

TEST(CompilerMessages, NothingIsLongerThanAScreen) {
  std::string notes = "a.cu:3:4: error: no matching function\n";
  for (int i = 0; i < 1000; ++i)
    notes += "b.h:1:2: note: candidate template ignored\n";
  const std::string shown = firstError(notes, 10);
  EXPECT_EQ(std::ranges::count(shown, '\n'), 10);
  EXPECT_THAT(shown, HasSubstr("… 10 of 1001 lines"));
  EXPECT_LT(firstError("a.cu:1:1: error: " + std::string(100000, 'x')).size(), 600u);
}

TEST(CompilerMessages, TheWholeOutputIsInAFileThatIsNamed) {
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create("messages"));
  const std::string hint = compilerHint(manyErrors(), nullptr, folder.path());
  EXPECT_THAT(hint, StartsWith("compiler output:\nIn file included from slice.cu:2:"));
  EXPECT_LE(std::ranges::count(hint, '\n'), 20);
  const std::size_t at = hint.find("full output: ");
  ASSERT_NE(at, std::string::npos) << hint;
  EXPECT_EQ(readFile(hint.substr(at + 13)).value(), manyErrors());
  // What is short is shown whole, and needs no file.
  EXPECT_EQ(compilerHint("a.cu:1:1: error: x\n", nullptr, folder.path()),
            "compiler output:\na.cu:1:1: error: x");
  EXPECT_EQ(compilerHint("", nullptr), "");
}

} // namespace
