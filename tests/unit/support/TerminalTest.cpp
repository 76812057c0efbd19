// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kopt {
namespace {

/// A terminal on a pipe.
class TerminalTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(::pipe(ends_), 0); }
  void TearDown() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  std::string read() const {
    char buffer[256];
    const ssize_t n = ::read(ends_[0], buffer, sizeof buffer);
    return std::string(buffer, n > 0 ? std::size_t(n) : 0);
  }
  int ends_[2] = {-1, -1};
};

TEST_F(TerminalTest, TextIsPaintedWhereColourIsAskedForAlone) {
  EXPECT_EQ(makeTerminal(ends_[1], ColourChoice::Always, false)->paint(Style::Red, "error:"),
            "\x1b[31merror:\x1b[0m");
  EXPECT_EQ(makeTerminal(ends_[1], ColourChoice::Always, false)->paint(Style::Plain, "x"), "x");
  EXPECT_EQ(makeTerminal(ends_[1], ColourChoice::Never, false)->paint(Style::Red, "x"), "x");
}

TEST_F(TerminalTest, APipeGetsPlainLines) {
  ::unsetenv("CLICOLOR_FORCE");
  const auto terminal = makeTerminal(ends_[1], ColourChoice::Auto, false);
  EXPECT_EQ(terminal->paint(Style::Red, "x"), "x");
  terminal->status("reading");
  EXPECT_EQ(read(), "reading\n");
  terminal->line("done");
  EXPECT_EQ(read(), "done\n");
}

TEST_F(TerminalTest, AQuietOneKeepsWarningsAlone) {
  const auto terminal = makeTerminal(ends_[1], ColourChoice::Always, true);
  terminal->status("reading");
  terminal->line("Faster      an idea");
  terminal->line("note: a warning: of somebody's");
  terminal->line("warning: a");
  terminal->line(terminal->paint(Style::Yellow, "warning:") + " b");
  EXPECT_EQ(read(), "warning: a\n\x1b[33mwarning:\x1b[0m b\n");
}

} // namespace
} // namespace kopt
