// SPDX-License-Identifier: Apache-2.0
// What kopt-sandbox is asked for, as its command line says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt::sandbox {

struct Options {
  bool probe = false;     ///< try every layer and print what works
  bool inside = false;    ///< bubblewrap has made the namespaces: only the rest is left to do
  std::string bubblewrap; ///< its absolute path; empty: no namespaces
  /// The first process in the namespaces may mount: it makes the kernel's files in /proc read-only,
  /// faster than bubblewrap, and limits the number of processes.
  bool guardProc = false;
  bool sharedProc = false; ///< /proc is the machine's, read-only: the kernel refuses a private one
  bool landlock = false;
  bool seccomp = false;
  std::string cgroup; ///< a cgroup v2 folder in which this process may make one for the child
  std::vector<std::string> readable, writable, devices, hidden; ///< absolute paths
  bool sysfs = false, unixSockets = false;
  std::optional<std::uint64_t> cpuSeconds, fileBytes, openFiles, addressBytes, memoryBytes,
      scratchBytes;
  std::uint64_t processes = 0; ///< 0: no limit; 1: the program cannot fork
  std::string cwd;
  std::vector<std::string> program; ///< empty: for the probe, which only enters the namespaces
  std::vector<std::string> words;   ///< the command line itself
};

/// Nothing, with what is wrong in `why`, where the command line is not one of kopt's.
std::optional<Options> parseOptions(int argc, char **argv, std::string &why);

} // namespace kopt::sandbox
