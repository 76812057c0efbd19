// SPDX-License-Identifier: Apache-2.0
// What kopt-sandbox is asked for, as its command line says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt::sandbox {

/// Who makes the namespaces.
enum class Namespaces {
  Own,        ///< kopt-sandbox itself
  Bubblewrap, ///< bwrap, where it may and this process may not
  None,
};

struct Options {
  bool probe = false;  ///< try every layer and print what works
  bool inside = false; ///< bubblewrap has made the namespaces: only the rest is left to do
  Namespaces namespaces = Namespaces::Own;
  bool landlock = false;
  bool seccomp = false;
  std::string cgroup; ///< a cgroup v2 folder in which this process may make one for the child
  std::vector<std::string> readable, writable, devices, hidden; ///< absolute paths
  bool sysfs = false, network = false, unixSockets = false;
  std::optional<std::uint64_t> cpuSeconds, fileBytes, openFiles, addressBytes, memoryBytes,
      scratchBytes;
  std::uint64_t processes = 0; ///< 0: no limit; 1: the program cannot fork
  std::string cwd;
  std::vector<std::string> program;
};

/// Nothing, with what is wrong in `why`, where the command line is not one of kopt's.
std::optional<Options> parseOptions(int argc, char **argv, std::string &why);

} // namespace kopt::sandbox
