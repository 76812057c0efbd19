// SPDX-License-Identifier: Apache-2.0
// The command line of kopt-sandbox.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt::sandbox {

struct Options {
  bool probe = false;     ///< try every layer and print what works
  bool inside = false;    ///< running inside bubblewrap's namespaces: do the remaining steps
  std::string bubblewrap; ///< its absolute path; empty: no namespaces
  /// The first process in the namespaces may mount. It makes the kernel's files in /proc read-only,
  /// which is faster than through bubblewrap, and limits the number of processes.
  bool guardProc = false;
  /// /proc is the machine's, read-only, because the kernel refuses a private one.
  bool sharedProc = false;
  bool landlock = false;
  bool seccomp = false;
  std::string cgroup; ///< a cgroup v2 folder in which to make one for the child
  std::vector<std::string> readable, writable, devices, hidden; ///< absolute paths
  bool sysfs = false, unixSockets = false;
  std::optional<std::uint64_t> cpuSeconds, fileBytes, openFiles, addressBytes, memoryBytes,
      scratchBytes;
  std::uint64_t processes = 0; ///< 0: no limit; 1: the program cannot fork
  std::string cwd;
  std::vector<std::string> program; ///< empty: for the probe, which only enters the namespaces
  std::vector<std::string> words;   ///< the command line itself
};

/// Nothing, with the reason in `why`, if the command line is not valid.
std::optional<Options> parseOptions(int argc, char **argv, std::string &why);

} // namespace kopt::sandbox
