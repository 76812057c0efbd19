// SPDX-License-Identifier: Apache-2.0
// Child processes; no other code forks. Each child has its own process group, which is killed as a
// whole.
#pragma once

#include "driver/support/ProcessSpec.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct ProcessResult {
  int exitCode = 0; ///< 128 + signal if a signal ended it
  bool timedOut = false;
  std::string out, err; ///< truncated at outputLimit
  bool truncated = false;
  Duration wall{};
  bool ok() const { return exitCode == 0 && !timedOut; }
};

/// A child with which kopt communicates line by line (the runner). The destructor kills the group.
class InteractiveProcess {
public:
  virtual ~InteractiveProcess() = default;
  virtual Status writeLine(const std::string &line) = 0;
  /// As writeLine(), and passes open descriptors with the line's first byte (SCM_RIGHTS), at most
  /// kMostDescriptors. A fake that shares this process's descriptors may ignore them.
  virtual Status writeLineWith(const std::string &line, const std::vector<int> &descriptors) {
    static_cast<void>(descriptors);
    return writeLine(line);
  }
  static constexpr std::size_t kMostDescriptors = 250; ///< the kernel's limit is 253
  /// The next line, without its newline. Fails with Environment at end of file (the message
  /// contains the exit code) or if the line is longer than ProcessSpec::outputLimit (the child is
  /// then killed). Fails with BudgetEnded when the deadline passes; the child then still runs.
  virtual Result<std::string> readLine(Duration deadline) = 0;
  /// The last bytes of standard error, at most 64 KiB.
  virtual std::string errorTail() = 0;
  /// True if the child has written something that readLine() has not returned yet.
  virtual bool hasUnread() { return false; }
  /// True if it has ended, or no process can write to its output any more.
  virtual bool hasEnded() { return false; }
  virtual void kill() = 0;
  /// Kills the child and waits until it, and all processes that hold its output, have ended. False
  /// if they have not after `limit`: the kernel then still holds them, and they are left behind.
  virtual bool end(Duration limit) {
    static_cast<void>(limit);
    kill();
    wait();
    return true;
  }
  /// Waits and returns the exit code, or 128 + signal if a signal ended the child.
  virtual int wait() = 0;
};

/// The interface for starting processes; tests/fakes has one that answers from a table.
class ProcessRunner {
public:
  virtual ~ProcessRunner() = default;
  /// Runs a process until it ends. Fails with Environment only if the program cannot be started
  /// (the message says whether it was not found or is not executable). Any exit status of a started
  /// program is data.
  virtual Result<ProcessResult> run(const ProcessSpec &spec) = 0;
  virtual Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) = 0;
};

/// The implementation with POSIX calls, poll() and process groups.
std::unique_ptr<ProcessRunner> makeProcessRunner();

/// The absolute path of a program in PATH, or nothing.
std::optional<std::filesystem::path> findProgram(const std::string &name);

} // namespace kopt
