// SPDX-License-Identifier: Apache-2.0
#include "driver/model/HotLines.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(HotLines, TheLargerShareDecides) {
  const HotLines hot =
      hottestLines({{"a.cu", 1, 50, 0}, {"a.cu", 2, 30, 2}, {"a.cu", 3, 20, 8}, {"a.cu", 4, 0, 0}},
                   LineSource::Emulated);
  EXPECT_EQ(hot.source, LineSource::Emulated);
  EXPECT_EQ(hot.instructions, 100);
  EXPECT_EQ(hot.sectors, 10);
  ASSERT_EQ(hot.lines.size(), 3u); // a line without a cost is none
  EXPECT_EQ(hot.lines[0].line, 3u);
  EXPECT_EQ(hot.lines[1].line, 1u);
  EXPECT_EQ(hot.lines[2].line, 2u);
}

TEST(HotLines, CostsWithoutALineAreOnlyPartOfTheSums) {
  const HotLines hot = hottestLines({{"", 0, 90, 4}, {"a.cu", 7, 10, 0}}, LineSource::Emulated);
  EXPECT_EQ(hot.instructions, 100);
  EXPECT_EQ(hot.sectors, 4);
  ASSERT_EQ(hot.lines.size(), 1u);
  EXPECT_EQ(hot.lines[0].line, 7u);
}

TEST(HotLines, AreAtMostTenAndInOrderOfPlaceIfEqual) {
  std::vector<LineCost> costs;
  for (unsigned line = 40; line > 0; --line)
    costs.push_back({"a.cu", line, 1, 0});
  const HotLines hot = hottestLines(costs, LineSource::Emulated);
  ASSERT_EQ(hot.lines.size(), kMostHotLines);
  EXPECT_EQ(hot.lines.front().line, 1u);
  EXPECT_EQ(hot.lines.back().line, 10u);
  EXPECT_EQ(hot.instructions, 40);
  // Of machine code it is not known how often a line runs.
  EXPECT_EQ(hottestLines(costs, LineSource::Code).lines.front().line, 40u);
  EXPECT_TRUE(hottestLines({}, LineSource::Code).lines.empty());
}

} // namespace
} // namespace kopt
