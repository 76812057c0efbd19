// SPDX-License-Identifier: Apache-2.0
#include "driver/source/SourceEdits.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::HasSubstr;

SourceEdit edit(std::uint64_t begin, std::uint64_t end, std::string text,
                std::string file = "a.cu") {
  return {{std::move(file), begin, end}, std::move(text)};
}

std::string apply(const std::string &text, const std::vector<SourceEdit> &edits) {
  const auto files = editsByFile(edits);
  EXPECT_TRUE(files) << files.error().what;
  const auto result = applyEdits(text, files->at("a.cu"));
  EXPECT_TRUE(result) << result.error().what;
  return *result;
}

TEST(SourceEdits, AreMadeInTheOrderOfTheirRangesWhateverTheirOrder) {
  EXPECT_EQ(apply("int TILE = 16; int ROWS = 8;", {edit(26, 27, "16"), edit(11, 13, "32")}),
            "int TILE = 32; int ROWS = 16;");
}

TEST(SourceEdits, InsertionsAtOnePlaceKeepTheirOrderAndPrecedeAReplacementThere) {
  EXPECT_EQ(apply("abc", {edit(1, 2, "B"), edit(1, 1, "x"), edit(1, 1, "y")}), "axyBc");
}

TEST(SourceEdits, TheSameEditTwiceCountsOnce) {
  EXPECT_EQ(apply("n = 1", {edit(4, 5, "2"), edit(4, 5, "2")}), "n = 2");
}

TEST(SourceEdits, MayTouchAndReachTheEnds) {
  EXPECT_EQ(apply("abcd", {edit(0, 2, "1"), edit(2, 4, "2"), edit(4, 4, "3")}), "123");
}

TEST(SourceEdits, OverlapIsRefusedNamingFileAndBytes) {
  EXPECT_THAT(editsByFile({edit(0, 4, "x"), edit(3, 5, "y")}),
              fails({.code = ErrorCode::Internal,
                     .what = HasSubstr("bytes 0 to 4 and bytes 3 to 5"),
                     .where = "a.cu"}));
}

TEST(SourceEdits, AnInsertionInsideAReplacedRangeIsAnOverlap) {
  EXPECT_FALSE(editsByFile({edit(0, 4, "x"), edit(2, 2, "y")}));
}

TEST(SourceEdits, EqualRangesInTwoFilesDoNotOverlap) {
  const auto files = must(editsByFile({edit(0, 4, "x", "a.cu"), edit(0, 4, "y", "b.cu")}));
  EXPECT_EQ(files.size(), 2u);
}

TEST(SourceEdits, ARangeBeyondTheTextIsStale) {
  EXPECT_THAT(applyEdits("short", {edit(3, 9, "x")}), fails({.code = ErrorCode::StaleInput}));
}

} // namespace
} // namespace kopt
