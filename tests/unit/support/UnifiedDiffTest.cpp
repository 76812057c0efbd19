// SPDX-License-Identifier: Apache-2.0
#include "driver/support/UnifiedDiff.h"

#include <gtest/gtest.h>
#include <random>

namespace kopt {
namespace {

TEST(UnifiedDiff, WritesWhatGitWrites) {
  const FileDiff diff =
      diffTexts("src/k.cu", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
  EXPECT_EQ(formatDiff(diff), "diff --git a/src/k.cu b/src/k.cu\n--- a/src/k.cu\n+++ b/src/k.cu\n"
                              "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, EqualTextsGiveNothing) {
  const FileDiff diff = diffTexts("k.cu", "same\n", "same\n");
  EXPECT_TRUE(diff.hunks.empty());
  EXPECT_EQ(formatDiff(diff), "");
}

TEST(UnifiedDiff, ChangesSixLinesApartShareAHunkAndSevenApartDoNot) {
  const std::string before = "a\n1\n2\n3\n4\n5\n6\nb\n1\n2\n3\n4\n5\n6\n7\nc\n";
  const std::string after = "A\n1\n2\n3\n4\n5\n6\nB\n1\n2\n3\n4\n5\n6\n7\nC\n";
  const FileDiff diff = diffTexts("k.cu", before, after);
  ASSERT_EQ(diff.hunks.size(), 2u);
  EXPECT_EQ(diff.hunks[0].lines.size(), 13u); // A, six, B twice each, three of context
  EXPECT_EQ(diff.hunks[1].oldStart, 12u);
}

TEST(UnifiedDiff, MarksAMissingNewlineAtTheEnd) {
  const FileDiff diff = diffTexts("k.cu", "a\nb", "a\nc");
  EXPECT_NE(
      formatDiff(diff).find("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"),
      std::string::npos)
      << formatDiff(diff);
}

TEST(UnifiedDiff, QuotesNamesAsGitDoes) {
  const FileDiff diff = diffTexts("k\xc3\xa4rnel \"x\".cu", "a\n", "b\n");
  EXPECT_NE(formatDiff(diff).find("+++ \"b/k\\303\\244rnel \\\"x\\\".cu\""), std::string::npos)
      << formatDiff(diff);
}

/// What the hunks make of a text; their line numbers count in it and in the result.
std::string changed(const std::string &before, const FileDiff &diff) {
  std::vector<std::string> lines, after;
  for (std::size_t at = 0; at < before.size(); at += lines.back().size())
    lines.push_back(before.substr(at, std::min(before.find('\n', at), before.size() - 1) + 1 - at));
  std::size_t next = 0;
  for (const DiffHunk &hunk : diff.hunks) {
    while (next < hunk.oldStart)
      after.push_back(lines.at(next++));
    EXPECT_EQ(after.size(), hunk.newStart);
    for (const DiffLine &line : hunk.lines) {
      if (line.kind != '+')
        EXPECT_EQ(lines.at(next++), line.text);
      if (line.kind != '-')
        after.push_back(line.text);
    }
  }
  after.insert(after.end(), lines.begin() + std::ptrdiff_t(next), lines.end());
  std::string text;
  for (const std::string &line : after)
    text += line;
  return text;
}

TEST(UnifiedDiff, HoldsForAnyTwoTexts) {
  std::mt19937 random(1);
  const auto text = [&] {
    std::string lines;
    for (int i = random() % 40; i > 0; --i)
      lines +=
          std::string(1, static_cast<char>('a' + random() % 4)) + (random() % 9 ? "\n" : "\r\n");
    if (random() % 3 == 0 && !lines.empty())
      lines.pop_back();
    return lines;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string before = text(), after = text();
    const FileDiff diff = diffTexts("k.cu", before, after);
    ASSERT_EQ(changed(before, diff), after) << formatDiff(diff);
    ASSERT_EQ(diff.hunks.empty(), before == after);
  }
}

TEST(UnifiedDiff, LargeRewritesStayLinear) {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "old " + std::to_string(i) + "\n";
    after += "new " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(changed(before, diffTexts("k.cu", before, after)), after);
}

} // namespace
} // namespace kopt
