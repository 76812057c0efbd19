// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Text.h"
#include "driver/support/Terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kopt {
namespace {

TEST(Text, CountsEditsWithSwapsAsOne) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("trails", "trials"), 1u);
}

TEST(Text, ProposesOnlyWhatIsNear) {
  EXPECT_EQ(didYouMean("patiense", {"rounds", "patience"}), "did you mean 'patience'?");
  EXPECT_EQ(didYouMean("zebra", {"rounds", "patience"}), "");
}

TEST(Text, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(validUtf8("caf\xc3\xa9 \"\n"), "caf\xc3\xa9 \"\n");
  EXPECT_EQ(validUtf8("\xff caf\xe9!"), "\xef\xbf\xbd caf\xef\xbf\xbd!");
}

TEST(Text, FormatsForPeople) {
  EXPECT_EQ(formatDuration(1.23e-6), "1.23 us");
  EXPECT_EQ(formatDuration(0.45), "450 ms");
  EXPECT_EQ(formatDuration(245), "4 min 05 s");
  EXPECT_EQ(formatDuration(7380), "2 h 03 min");
  EXPECT_EQ(formatPercent(0.0534), "5.3%");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatNumber(32), "32");
  EXPECT_EQ(formatNumber(0.12345), "0.1235");
  EXPECT_EQ(counted(1, "kernel is", "kernels are"), "1 kernel is");
  EXPECT_EQ(slug("Pad tile[32][32] to [32][33]!"), "pad-tile-32-32-to-32-33");
}

TEST(Text, SplitsAndJoins) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(join({"a", "b"}, " + "), "a + b");
  EXPECT_EQ(trim("  x y\n"), "x y");
  EXPECT_EQ(replaceAll("aaa", "a", "aa"), "aaaaaa");
}

TEST(Terminal, ColourFollowsFlagThenEnvironmentThenTerminal) {
  EXPECT_FALSE(wantsColour(ColourChoice::Auto, true, "1", "1"));
  EXPECT_TRUE(wantsColour(ColourChoice::Auto, false, "", "1"));
  EXPECT_FALSE(wantsColour(ColourChoice::Auto, false, nullptr, "0"));
  EXPECT_TRUE(wantsColour(ColourChoice::Auto, true, nullptr, nullptr));
  EXPECT_TRUE(wantsColour(ColourChoice::Always, false, "1", nullptr));
  EXPECT_FALSE(wantsColour(ColourChoice::Never, true, nullptr, "1"));
}

TEST(Terminal, WritesPlainLinesIntoAPipeOnceEach) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    auto terminal = makeTerminal(ends[1], ColourChoice::Never, false);
    terminal->status("[1/3] build");
    terminal->status("[1/3] build");
    terminal->line("done");
  }
  ::close(ends[1]);
  std::string text(200, '\0');
  text.resize(std::size_t(::read(ends[0], text.data(), text.size())));
  ::close(ends[0]);
  EXPECT_EQ(text, "[1/3] build\ndone\n");
}

} // namespace
} // namespace kopt
