// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Glob.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(Glob, MatchesTheWholeText) {
  EXPECT_TRUE(matchesGlob("ns::*", "ns::transpose"));
  EXPECT_TRUE(matchesGlob("*pose", "transpose"));
  EXPECT_TRUE(matchesGlob("t?anspose", "transpose"));
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_FALSE(matchesGlob("trans", "transpose"));
  EXPECT_FALSE(matchesGlob("", "transpose"));
  EXPECT_TRUE(matchesGlob("*a*b", "xaxbxb"));
}

TEST(Glob, KnowsSetsOfCharacters) {
  EXPECT_TRUE(matchesGlob("a[bc]", "ab"));
  EXPECT_TRUE(matchesGlob("a[b-d]*", "acx"));
  EXPECT_FALSE(matchesGlob("a[bc]", "ad"));
  EXPECT_TRUE(matchesGlob("a[!bc]", "ad"));
  EXPECT_TRUE(matchesGlob("a\\*", "a*"));
  EXPECT_FALSE(matchesGlob("a\\*", "ab"));
}

TEST(Glob, ATextMatchesItself) { EXPECT_TRUE(matchesGlob("f<a[2]>", "f<a[2]>")); }

} // namespace
} // namespace kopt
