// SPDX-License-Identifier: Apache-2.0
// Child processes: the one place that forks. Each child is its own process group and is killed as a
// group.
#pragma once

#include "driver/support/Clock.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct ProcessSpec {
  std::vector<std::string> argv;          ///< argv[0] is looked up in PATH
  std::filesystem::path cwd;              ///< empty: the parent's
  std::map<std::string, std::string> env; ///< added to or replacing the parent's
  std::vector<std::string> unsetEnv; ///< removed: keys never reach a child that does not need them
  /// The only variables of the parent that the child gets, besides `env`; "LC_*" is all that begin
  /// so. Unset: all.
  std::optional<std::vector<std::string>> keepEnv;
  std::string input;               ///< written to standard input, then closed
  std::optional<Duration> timeout; ///< SIGTERM, then SIGKILL 2 s later, to the group
  /// Bytes kept of each stream; the rest is dropped and counted. Of an interactive child: bytes of
  /// output that nobody has asked for; one that writes more is killed.
  std::size_t outputLimit = 16u << 20;
  /// Bytes of both streams together after which a child that is run to its end is killed: it would
  /// not stop by itself.
  std::size_t floodLimit = 512u << 20;
  std::optional<std::size_t> cpuSeconds; ///< RLIMIT_CPU
};

struct ProcessResult {
  int exitCode = 0; ///< 128 + signal where a signal ended it
  bool timedOut = false;
  std::string out, err; ///< truncated at outputLimit
  bool truncated = false;
  Duration wall{};
  bool ok() const { return exitCode == 0 && !timedOut; }
};

/// A child that is talked to line by line (the runner). Destroying it kills the group.
class InteractiveProcess {
public:
  virtual ~InteractiveProcess() = default;
  virtual Status writeLine(const std::string &line) = 0;
  /// The same, and hands over open descriptors with the line's first byte (SCM_RIGHTS), at most
  /// kMostDescriptors. A fake that shares this process's descriptors may ignore them.
  virtual Status writeLineWith(const std::string &line, const std::vector<int> &descriptors) {
    static_cast<void>(descriptors);
    return writeLine(line);
  }
  static constexpr std::size_t kMostDescriptors = 250; ///< the kernel's limit is 253
  /// The next line without its newline. Fails with Environment on end of file (the message holds
  /// the exit code) or where it has no end within ProcessSpec::outputLimit (the child is killed),
  /// and with BudgetEnded when the deadline passes; the child still runs then.
  virtual Result<std::string> readLine(Duration deadline) = 0;
  /// The last bytes of standard error, at most 64 KiB.
  virtual std::string errorTail() = 0;
  /// True where the child has written something that readLine() has not returned yet.
  virtual bool hasUnread() { return false; }
  /// True where it has ended, or nobody can write to its output any more.
  virtual bool hasEnded() { return false; }
  virtual void kill() = 0;
  /// Kills it and waits until it, and all that hold its output, are gone. False where they are not
  /// after `limit`: then something in the kernel holds them, and they are left to it.
  virtual bool end(Duration limit) {
    static_cast<void>(limit);
    kill();
    wait();
    return true;
  }
  /// Waits and returns the exit code, 128 + signal where a signal ended it.
  virtual int wait() = 0;
};

/// Seam over process creation; tests/fakes has one that answers from a table.
class ProcessRunner {
public:
  virtual ~ProcessRunner() = default;
  /// Fails with Environment only where the program cannot be started (not found, not executable:
  /// the message says which); any exit status of a started program is data.
  virtual Result<ProcessResult> run(const ProcessSpec &spec) = 0;
  virtual Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) = 0;
};

/// The real one: posix, poll, process groups.
std::unique_ptr<ProcessRunner> makeProcessRunner();

/// The absolute path of a program in PATH, or nothing.
std::optional<std::filesystem::path> findProgram(const std::string &name);

} // namespace kopt
