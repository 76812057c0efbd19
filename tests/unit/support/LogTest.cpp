// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Log.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Process.h"
#include "tests/fakes/Results.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <optional>

namespace kopt {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Lines final : public Terminal {
public:
  void status(std::string_view) override {}
  void line(std::string_view text) override { all += std::string(text) + "\n"; }
  void clear() override {}
  std::string paint(Style, std::string_view text) const override { return std::string(text); }
  std::string all;
};

class LogTest : public testing::Test {
protected:
  LogTest() : folder_(std::move(*TemporaryDirectory::create("kopt-log"))) {}
  std::filesystem::path file() const { return folder_.path() / "kopt.log"; }
  std::string text() const { return readFile(file()).value_or(""); }
  void open() {
    auto log = must(Log::open({&terminal_, file()}));
    log_.emplace(std::move(log));
  }
  TemporaryDirectory folder_;
  Lines terminal_;
  std::optional<Log> log_;
};

TEST_F(LogTest, ACommandIsLoggedWithItsFolderTimeAndExitStatus) {
  open();
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "exit 3"};
  spec.cwd = folder_.path();
  const auto result = makeProcessRunner()->run(spec);
  ASSERT_TRUE(result);
  EXPECT_THAT(text(), ContainsRegex("ran: sh -c 'exit 3', in .*kopt-log.* \\(.*s, exit code 3\\)"));
  EXPECT_THAT(terminal_.all, HasSubstr("log: ran: sh -c 'exit 3'"));
}

TEST_F(LogTest, AChildThatIsTalkedToIsLoggedAtBothEnds) {
  open();
  ProcessSpec spec;
  spec.argv = {"cat"};
  auto child = must(makeProcessRunner()->start(spec));
  EXPECT_THAT(text(), HasSubstr("started: cat"));
  EXPECT_EQ(child->wait(), 0);
  child.reset();
  EXPECT_THAT(text(), ContainsRegex("ended: cat \\(.*exit code 0\\)"));
}

TEST_F(LogTest, AProgramThatDoesNotStartIsLogged) {
  open();
  ProcessSpec spec;
  spec.argv = {"no-such-program-anywhere"};
  EXPECT_FALSE(makeProcessRunner()->run(spec));
  EXPECT_THAT(text(), HasSubstr("not started: no-such-program-anywhere"));
}

TEST_F(LogTest, TheEnvironmentIsNotLogged) {
  open();
  ::setenv("KOPT_TEST_API_KEY", "sk-inherited", 1);
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "true"};
  spec.env = {{"ANTHROPIC_API_KEY", "sk-given"}};
  EXPECT_TRUE(makeProcessRunner()->run(spec));
  ::unsetenv("KOPT_TEST_API_KEY");
  EXPECT_THAT(text(), HasSubstr("ran: sh"));
  EXPECT_THAT(text(), Not(HasSubstr("sk-")));
}

TEST_F(LogTest, AStageIsLoggedWithItsTime) {
  open();
  {
    const LoggedStage stage("read the sources");
  }
  EXPECT_THAT(text(), ContainsRegex("Z [0-9]+ stage: read the sources \\(.*s\\)"));
}

TEST_F(LogTest, LinesAreAppendedAndNoneIsWrittenAfterTheLogIsGone) {
  EXPECT_FALSE(isLogging());
  open();
  logLine("first");
  log_.reset();
  EXPECT_FALSE(isLogging());
  logLine("between");
  open();
  logLine("second");
  EXPECT_THAT(text(), ContainsRegex("first\n.*second\n"));
  EXPECT_THAT(text(), Not(HasSubstr("between")));
}

TEST_F(LogTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THAT(Log::open({nullptr, "/proc/nope/kopt.log"}),
              fails({.code = ErrorCode::Environment, .where = "/proc/nope/kopt.log"}));
}

} // namespace
} // namespace kopt
