// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/patch/UnifiedDiff.h"

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

TEST(UnifiedDiff, ReadsBackWhatItWrote) {
  const std::string before = "a\r\n--- b\n\nd", after = "a\r\n--- B\n\n+++ x\nd\n";
  for (const std::string path : {"plain.cu", "with space/k.cu", "k\xc3\xa4rnel\t\"\\.cu"}) {
    const auto diffs =
        parseDiffs("From: x\n\n" + formatDiff(diffTexts(path, before, after)) + "-- \nkopt\n");
    ASSERT_TRUE(diffs) << diffs.error().what;
    ASSERT_EQ(diffs->size(), 1u);
    EXPECT_EQ(diffs->front().path, path);
    EXPECT_EQ(applyDiff(before, diffs->front()).value_or("?"), after);
    EXPECT_EQ(applyDiff(after, invertDiff(diffs->front())).value_or("?"), before);
  }
}

// As after a hunk was taken out of a patch by hand: the line numbers of the new file no longer
// follow.
TEST(UnifiedDiff, NewLineNumbersFollowFromTheHunks) {
  const std::string head = "diff --git a/k.cu b/k.cu\n--- a/k.cu\n+++ b/k.cu\n";
  const auto diffs = parseDiffs(head + "@@ -1 +2 @@\n-one\n+two\n");
  ASSERT_TRUE(diffs) << diffs.error().what;
  const std::string before = "one\ntwo\n", after = "two\ntwo\n";
  EXPECT_EQ(applyDiff(before, diffs->front()).value_or("?"), after);
  EXPECT_EQ(applyDiff(after, invertDiff(diffs->front())).value_or("?"), before);
  EXPECT_EQ(formatDiff(diffs->front()), head + "@@ -1 +1 @@\n-one\n+two\n");
  EXPECT_FALSE(parseDiffs(head + "@@ -2,2 +1,0 @@\n-a\n-b\n@@ -1 +1 @@\n-one\n+two\n").has_value());
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
    ASSERT_EQ(applyDiff(before, diff).value_or("failed"), after);
    if (before == after)
      continue;
    const auto read = parseDiffs(formatDiff(diff));
    ASSERT_TRUE(read) << read.error().what << "\n" << formatDiff(diff);
    ASSERT_EQ(applyDiff(before, read->front()).value_or("failed"), after) << formatDiff(diff);
  }
}

TEST(UnifiedDiff, LargeRewritesStayLinear) {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "old " + std::to_string(i) + "\n";
    after += "new " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(applyDiff(before, diffTexts("k.cu", before, after)).value_or("failed"), after);
}

TEST(UnifiedDiff, RefusesATextThatMovedOrChanged) {
  const FileDiff diff = diffTexts("k.cu", "a\nb\nc\n", "a\nB\nc\n");
  const auto changed = applyDiff("a\nx\nc\n", diff);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::StaleInput);
  EXPECT_EQ(changed.error().where, "k.cu:2");
  EXPECT_FALSE(applyDiff("new\na\nb\nc\n", diff));
  EXPECT_FALSE(applyDiff("a\n", diff));
}

TEST(UnifiedDiff, RefusesDamagedAndForeignPatches) {
  const std::string good = formatDiff(diffTexts("k.cu", "a\nb\nc\n", "a\nB\nc\n"));
  EXPECT_FALSE(parseDiffs(""));
  EXPECT_FALSE(parseDiffs("no diff here\n"));
  EXPECT_FALSE(parseDiffs(good.substr(0, good.size() - 3)));
  EXPECT_FALSE(parseDiffs("diff --git a/x b/y\nrename from x\nrename to y\n"));
  EXPECT_FALSE(parseDiffs(
      "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n"));
  std::string wrongCount = good;
  wrongCount.replace(wrongCount.find("-1,3"), 4, "-1,9");
  EXPECT_FALSE(parseDiffs(wrongCount));
  std::string beforeTheFirst = good;
  beforeTheFirst.replace(beforeTheFirst.find("-1,3"), 4, "-0,3");
  EXPECT_FALSE(parseDiffs(beforeTheFirst));
  for (const char *name : {R"("b/\3zz")", R"("b/\777")", R"("b/\30")"})
    EXPECT_FALSE(parseDiffs(std::string("diff --git a/x b/x\n--- a/x\n+++ ") + name +
                            "\n@@ -1 +1 @@\n-a\n+b\n"))
        << name;
}

} // namespace
} // namespace kopt
