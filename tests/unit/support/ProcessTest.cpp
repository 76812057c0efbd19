// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Process.h"

#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>

namespace kopt {
namespace {

using testing::HasSubstr;
using testing::Not;

ProcessSpec shell(const std::string &script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  return spec;
}

class ProcessTest : public testing::Test {
protected:
  ProcessResult run(const ProcessSpec &spec) {
    auto result = runner_->run(spec);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().what);
    return result ? *result : ProcessResult{};
  }
  std::unique_ptr<ProcessRunner> runner_ = makeProcessRunner();
};

TEST_F(ProcessTest, KeepsStreamsApartAndTheExitCode) {
  ProcessResult result = run(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exitCode, 7);
  EXPECT_FALSE(result.ok());
}

TEST_F(ProcessTest, ReportsASignalAs128Plus) {
  EXPECT_EQ(run(shell("kill -SEGV $$")).exitCode, 128 + SIGSEGV);
}

TEST_F(ProcessTest, PassesMoreThanAPipeHoldsInAllDirectionsAtOnce) {
  ProcessSpec spec = shell("tee /dev/stderr");
  spec.input.assign(3 << 20, 'x');
  ProcessResult result = run(spec);
  EXPECT_EQ(result.out.size(), spec.input.size());
  EXPECT_EQ(result.err.size(), spec.input.size());
}

TEST_F(ProcessTest, SurvivesAChildThatDoesNotReadItsInput) {
  ProcessSpec spec = shell("exec <&-; exit 3");
  spec.input.assign(1 << 20, 'x');
  EXPECT_EQ(run(spec).exitCode, 3);
}

TEST_F(ProcessTest, CapsOutputAndSaysSo) {
  ProcessSpec spec = shell("head -c 100000 /dev/zero");
  spec.outputLimit = 1000;
  ProcessResult result = run(spec);
  EXPECT_EQ(result.out.size(), 1000u);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.exitCode, 0);
}

TEST_F(ProcessTest, KillsTheWholeGroupAtTheTimeout) {
  auto folder = must(TemporaryDirectory::create("kopt-process"));
  auto pidFile = folder.path() / "pid";
  ProcessSpec spec = shell("sleep 60 & echo $! > " + pidFile.string() + "; wait");
  spec.timeout = Duration(0.3);
  ProcessResult result = run(spec);
  EXPECT_TRUE(result.timedOut);
  EXPECT_FALSE(result.ok());
  EXPECT_LT(result.wall.count(), 2.0);
  auto pid = must(readFile(pidFile));
  // The grandchild is gone, or a zombie that only init has yet to collect.
  auto stat = readFile("/proc/" + std::to_string(std::stol(pid)) + "/stat");
  for (int i = 0; i < 50 && stat && stat->find(") Z") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stat = readFile("/proc/" + std::to_string(std::stol(pid)) + "/stat");
  }
  EXPECT_TRUE(!stat || stat->find(") Z") != std::string::npos);
}

TEST_F(ProcessTest, KillsAChildThatIgnoresSigterm) {
  ProcessSpec spec = shell("trap '' TERM; while :; do sleep 0.05; done");
  spec.timeout = Duration(0.2);
  ProcessResult result = run(spec);
  EXPECT_TRUE(result.timedOut);
  EXPECT_EQ(result.exitCode, 128 + SIGKILL);
  EXPECT_GE(result.wall.count(), 2.0);
  EXPECT_LT(result.wall.count(), 6.0);
}

TEST_F(ProcessTest, DoesNotWaitForABackgroundProcessThatHoldsThePipe) {
  ProcessResult result = run(shell("sleep 30 & echo done"));
  EXPECT_EQ(result.out, "done\n");
  EXPECT_LT(result.wall.count(), 5.0);
}

TEST_F(ProcessTest, SetsAndUnsetsEnvironment) {
  ::setenv("KOPT_TEST_SECRET", "hidden", 1);
  ProcessSpec spec = shell("echo \"$KOPT_TEST_A/${KOPT_TEST_SECRET-none}\"");
  spec.env["KOPT_TEST_A"] = "a b";
  spec.unsetEnv = {"KOPT_TEST_SECRET"};
  EXPECT_EQ(run(spec).out, "a b/none\n");
  ::unsetenv("KOPT_TEST_SECRET");
}

TEST_F(ProcessTest, RunsInAFolder) {
  ProcessSpec spec = shell("pwd -P");
  spec.cwd = "/usr/bin";
  EXPECT_EQ(run(spec).out, std::filesystem::canonical("/usr/bin").string() + "\n");
}

TEST_F(ProcessTest, LimitsProcessorTime) {
  ProcessSpec spec = shell("while :; do :; done");
  spec.cpuSeconds = 1;
  spec.timeout = Duration(20);
  EXPECT_EQ(run(spec).exitCode, 128 + SIGXCPU);
}

TEST_F(ProcessTest, NamesAProgramThatIsMissing) {
  ProcessSpec spec;
  spec.argv = {"kopt-no-such-program"};
  EXPECT_THAT(runner_->run(spec),
              fails({.code = ErrorCode::Environment, .what = HasSubstr("kopt-no-such-program")}));
}

TEST_F(ProcessTest, NamesAFolderThatIsMissing) {
  ProcessSpec spec = shell("true");
  spec.cwd = "/no/such/folder";
  EXPECT_THAT(runner_->run(spec),
              fails({.code = ErrorCode::Environment, .what = HasSubstr("/no/such/folder")}));
}

TEST_F(ProcessTest, TalksLineByLine) {
  auto process =
      must(runner_->start(shell("while read line; do echo \"got $line\"; done; exit 4")));
  ASSERT_TRUE(process->writeLine("one").has_value());
  EXPECT_EQ(process->readLine(Duration(10)).value(), "got one");
  EXPECT_THAT(process->readLine(Duration(0.1)), fails({.code = ErrorCode::BudgetEnded}));
  ASSERT_TRUE(process->writeLine("two").has_value());
  EXPECT_EQ(process->readLine(Duration(10)).value(), "got two");
  EXPECT_EQ(process->wait(), 4);
}

TEST_F(ProcessTest, ReportsTheEndOfAnInteractiveChild) {
  auto process = must(runner_->start(shell("echo last words >&2; kill -SEGV $$")));
  EXPECT_THAT(process->readLine(Duration(10)),
              fails({.code = ErrorCode::Environment, .what = HasSubstr("139")}));
  EXPECT_EQ(process->errorTail(), "last words\n");
}

TEST_F(ProcessTest, LongLinesGoBothWays) {
  auto process = must(runner_->start(shell("cat")));
  std::string line(2 << 20, 'y');
  ASSERT_TRUE(process->writeLine(line).has_value());
  EXPECT_EQ(process->readLine(Duration(20)).value(), line);
  process->kill();
  EXPECT_EQ(process->wait(), 128 + SIGKILL);
}

TEST(FindProgram, LooksInPath) {
  EXPECT_TRUE(findProgram("sh").has_value());
  EXPECT_FALSE(findProgram("kopt-no-such-program").has_value());
  EXPECT_FALSE(findProgram("/usr/bin").has_value());
}

} // namespace
TEST(Process, AFloodDoesNotHoldUpTheDeadline) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "trap '' TERM; yes & yes >&2"};
  spec.timeout = Duration(0.3);
  spec.outputLimit = 1000;
  spec.floodLimit = std::size_t(1) << 50;
  const auto start = std::chrono::steady_clock::now();
  const auto result = must(makeProcessRunner()->run(spec));
  EXPECT_TRUE(result.timedOut);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.out.size(), 1000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Process, AFloodIsStopped) {
  ProcessSpec spec;
  spec.argv = {"yes"};
  spec.outputLimit = 1000;
  spec.floodLimit = 10u << 20;
  const auto result = must(makeProcessRunner()->run(spec));
  EXPECT_EQ(result.exitCode, 128 + SIGKILL);
  EXPECT_TRUE(result.truncated);
  EXPECT_FALSE(result.timedOut);
}

TEST(Process, OnlyTheVariablesThatAreKept) {
  setenv("KOPT_TEST_KEPT", "1", 1);
  setenv("KOPT_TEST_KEPT_TOO", "1", 1);
  setenv("KOPT_TEST_SECRET", "1", 1);
  ProcessSpec spec;
  spec.argv = {"env"};
  spec.keepEnv = {"PATH", "KOPT_TEST_KEPT*"};
  spec.env["ADDED"] = "2";
  const auto result = must(makeProcessRunner()->run(spec));
  EXPECT_THAT(result.out, HasSubstr("KOPT_TEST_KEPT=1"));
  EXPECT_THAT(result.out, HasSubstr("KOPT_TEST_KEPT_TOO=1"));
  EXPECT_THAT(result.out, HasSubstr("ADDED=2"));
  EXPECT_THAT(result.out, Not(HasSubstr("SECRET")));
  EXPECT_THAT(result.out, Not(HasSubstr("HOME=")));
}

TEST(InteractiveProcess, ALineWithoutEndIsNotReadForEver) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "yes | tr -d '\\n'"};
  spec.outputLimit = 1 << 20;
  auto process = must(makeProcessRunner()->start(spec));
  EXPECT_THAT(process->readLine(Duration(60)),
              fails({.code = ErrorCode::Environment, .what = HasSubstr("1048576")}));
  EXPECT_TRUE(process->end(Duration(10)));
}

TEST(InteractiveProcess, TakesDescriptorsWithALine) {
  ProcessSpec spec;
  // The first descriptor that came lies above the standard streams; a shell cannot receive one,
  // Python can.
  spec.argv = {
      "python3", "-c",
      "import socket, os\n"
      "line, fds, _, _ = socket.recv_fds(socket.socket(fileno=0), 1000, 4)\n"
      "os.write(fds[0], b'written'); print(line.decode().strip(), len(fds), flush=True)\n"};
  auto process = must(makeProcessRunner()->start(spec));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_TRUE(process->writeLineWith("take this", {ends[1], ends[1]}));
  const auto line = must(process->readLine(Duration(30)));
  EXPECT_EQ(line, "take this 2");
  char text[7];
  ASSERT_EQ(read(ends[0], text, 7), 7);
  EXPECT_EQ(std::string(text, 7), "written");
  close(ends[0]);
  close(ends[1]);
}

TEST(InteractiveProcess, KnowsThatItEndedAndThatMoreWasSaid) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "read -r line; echo one; echo two"};
  auto process = must(makeProcessRunner()->start(spec));
  EXPECT_FALSE(process->hasUnread());
  EXPECT_FALSE(process->hasEnded());
  ASSERT_TRUE(process->writeLine("go"));
  ASSERT_EQ(*process->readLine(Duration(30)), "one");
  for (int i = 0; i < 500 && !process->hasEnded(); ++i)
    usleep(10000);
  EXPECT_TRUE(process->hasEnded());
  EXPECT_TRUE(process->hasUnread());
}

} // namespace kopt
