// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Clock.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A child process to start.
struct ProcessSpec {
  std::vector<std::string> argv;          ///< argv[0] is looked up in PATH
  std::filesystem::path cwd;              ///< empty: the parent's
  std::map<std::string, std::string> env; ///< added to the parent's, or replace them
  /// Removed, so that keys never reach a child that does not need them.
  std::vector<std::string> unsetEnv;
  /// The only variables of the parent that the child receives, besides `env`; "LC_*" stands for all
  /// that begin with "LC_". Unset: all variables.
  std::optional<std::vector<std::string>> keepEnv;
  std::string input;                       ///< written to standard input, then closed
  std::optional<Duration> timeout;         ///< SIGTERM, then SIGKILL 2 s later, to the group
  const std::atomic<bool> *stop = nullptr; ///< run() ends the child so, too, once it is set
  /// Bytes kept of each stream; the rest is dropped and counted. For an interactive child, the
  /// limit of output that was not read yet; a child that writes more is killed.
  std::size_t outputLimit = 16u << 20;
  /// Bytes of both streams together after which run() kills the child, because it would not stop by
  /// itself.
  std::size_t floodLimit = 512u << 20;
  std::optional<std::size_t> cpuSeconds; ///< RLIMIT_CPU
};

} // namespace kopt
