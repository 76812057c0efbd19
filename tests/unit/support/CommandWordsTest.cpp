// SPDX-License-Identifier: Apache-2.0
#include "driver/support/CommandWords.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SplitCommand, WordsQuotesAndBackslashes) {
  EXPECT_THAT(*splitCommand("./app  --size 4096"), ElementsAre("./app", "--size", "4096"));
  EXPECT_THAT(*splitCommand("app 'a b' \"c \\\" d\" e\\ f ''"),
              ElementsAre("app", "a b", "c \" d", "e f", ""));
  EXPECT_THAT(*splitCommand("app '|' \"a;b\" a\\|b"), ElementsAre("app", "|", "a;b", "a|b"));
}

TEST(SplitCommand, WhatNeedsAShellIsRefused) {
  for (const char *text :
       {"a | b", "a > file", "a; b", "a $HOME", "a \"$HOME\"", "a `b`", "a *.txt", "a & b"}) {
    const auto words = splitCommand(text);
    ASSERT_FALSE(words) << text;
    EXPECT_EQ(words.error().code, ErrorCode::Usage);
    EXPECT_THAT(words.error().what, HasSubstr("needs a shell"));
  }
  EXPECT_FALSE(splitCommand("a 'b"));
  EXPECT_FALSE(splitCommand("  "));
}

TEST(JoinCommand, IsReadBackAsTheSameWords) {
  const std::vector<std::string> words{"nvcc", "-DX=\"a b\"", "it's", "", "a.cu", "$HOME"};
  EXPECT_EQ(joinCommand({"nvcc", "-O3", "a.cu"}), "nvcc -O3 a.cu");
  EXPECT_EQ(*splitCommand(joinCommand(words)), words);
}

} // namespace
