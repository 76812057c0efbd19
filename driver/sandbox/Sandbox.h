// SPDX-License-Identifier: Apache-2.0
// Runs a child with nothing but what it is given: kopt's side of kopt-sandbox. Knows nothing of
// kopt's roles; they are policies of the folders that start them.
#pragma once

#include "driver/support/Process.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What a child may see and use. All else is not there: no other file, no network, no variable, no
/// process.
struct SandboxPolicy {
  /// Beside the system's programs and libraries: seen read-only, and writable, at their own paths.
  /// Where one holds the user's home, what begins with a dot in the home is hidden.
  std::vector<std::filesystem::path> readable, writable;
  std::vector<std::filesystem::path> devices; ///< device nodes, or folders of them
  bool sysfs = false;
  bool unixSockets = false; ///< AF_UNIX sockets, which connect to nothing outside
  /// It must be able to write to its own /proc, as CUDA's driver must, which names its threads
  /// there. Where the namespaces have none of their own it runs without them, held by the other
  /// layers.
  bool writesOwnProc = false;
  std::vector<std::string>
      environment; ///< variables of this process that it gets, as ProcessSpec::keepEnv
  std::optional<std::uint64_t> cpuSeconds, fileBytes, openFiles;
  /// Of virtual memory. Never for a program that uses CUDA, which reserves far more than it uses.
  std::optional<std::uint64_t> addressBytes;
  std::optional<std::uint64_t>
      memoryBytes;                         ///< really used, all processes together; needs cgroup v2
  std::uint64_t scratchBytes = 256u << 20; ///< of its private /tmp and /dev/shm, each
  std::uint64_t processes = 0;             ///< 0: no limit; 1: it cannot fork
};

enum class SandboxMode {
  Auto,     ///< every layer that this machine gives
  Required, ///< all of them, or nothing runs
  Off,
};

/// "auto", "required", "off".
std::optional<SandboxMode> parseSandboxMode(const std::string &text);

/// One of the things that hold a child in.
struct SandboxLayer {
  std::string name;
  bool active = false;
  std::string detail; ///< how, or why not
  std::string remedy; ///< what to do; empty where it is active
};

/// A list of {"layer", "active", "detail"}, as reports and --json have it.
nlohmann::json toJson(const std::vector<SandboxLayer> &layers);

class Sandbox {
public:
  /// None: children run as they are started, but for their environment and resource limits.
  Sandbox() = default;

  /// Tries what this machine gives. Fails with Environment where `launcher` (kopt-sandbox) is
  /// missing or does not answer, and for Required where a layer is missing, naming it and its
  /// remedy.
  static Result<Sandbox> open(ProcessRunner &processes, const std::filesystem::path &launcher,
                              SandboxMode mode);

  bool active() const { return !launcher_.empty(); }
  /// Every layer, whether it could be had or not. With --sandbox off one line says that.
  const std::vector<SandboxLayer> &layers() const { return layers_; }
  bool hasNamespaces() const { return namespaces_; }

  /// The same program, contained. argv[0] must be an absolute path.
  ProcessSpec contain(ProcessSpec spec, const SandboxPolicy &policy) const;

  /// What went wrong where kopt-sandbox itself ended in place of the program, as an Environment
  /// error.
  static std::optional<Error> refusal(int exitCode, const std::string &errorText);

private:
  std::filesystem::path launcher_;
  std::vector<std::string> use_; ///< options of kopt-sandbox that name the layers
  std::vector<SandboxLayer> layers_;
  bool namespaces_ = false, privateProc_ = false;
};

} // namespace kopt
