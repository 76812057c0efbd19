// SPDX-License-Identifier: Apache-2.0
// Runs a child process with access to nothing except what its policy gives it; this is kopt's side
// of kopt-sandbox. It does not know kopt's roles; they are policies of the folders that start the
// children.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/support/Process.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What a child may see and use. It has no other files, variables or processes, and no network.
struct SandboxPolicy {
  /// Visible in addition to the system's programs and libraries, at their own paths, read-only or
  /// writable. If one contains the user's home, names in the home that begin with a dot are hidden.
  std::vector<std::filesystem::path> readable, writable;
  std::vector<std::filesystem::path> devices; ///< device nodes, or folders of them
  bool sysfs = false;
  bool unixSockets = false; ///< AF_UNIX sockets, which connect to nothing outside
  /// True if it must write to its own /proc, where CUDA's driver names its threads. If the
  /// namespaces cannot have a private /proc, the child runs without namespaces, contained by the
  /// other layers.
  bool writesOwnProc = false;
  /// Variables of this process that the child receives, as ProcessSpec::keepEnv.
  std::vector<std::string> environment;
  std::optional<std::uint64_t> cpuSeconds, fileBytes, openFiles;
  /// Of virtual memory. Never for a program that uses CUDA, which reserves far more than it uses.
  std::optional<std::uint64_t> addressBytes;
  /// Memory used by all processes together; needs cgroup v2.
  std::optional<std::uint64_t> memoryBytes;
  std::uint64_t scratchBytes = 256u << 20; ///< size of its private /tmp and of its /dev/shm
  std::uint64_t processes = 0;             ///< 0: no limit; 1: it cannot fork
};

enum class SandboxMode {
  Auto,     ///< every layer that this machine supports
  Required, ///< all layers, or nothing runs
  Off,
};

constexpr auto spellings(SandboxMode) {
  return std::to_array<std::string_view>({"auto", "required", "off"});
}

/// A layer of the sandbox.
struct SandboxLayer {
  std::string name;
  bool active = false;
  std::string detail; ///< how, or why not
  std::string remedy; ///< what to do; empty if it is active
};
KOPT_FIELDS(SandboxLayer, name, active, detail, remedy)

/// A list of {"layer", "active", "detail"}, for reports and --json.
nlohmann::json describeLayers(const std::vector<SandboxLayer> &layers);

class Sandbox {
public:
  /// No sandbox: only the environment and resources of children are limited.
  Sandbox() = default;

  /// Tries which layers this machine supports. Fails with Environment if `launcher` (kopt-sandbox)
  /// is missing or does not answer and, with Required, if a layer is missing, naming the layer and
  /// its remedy.
  static Result<Sandbox> open(ProcessRunner &processes, const std::filesystem::path &launcher,
                              SandboxMode mode);

  bool active() const { return !launcher_.empty(); }
  /// Every layer, active or not. With --sandbox off, one entry that says so.
  const std::vector<SandboxLayer> &layers() const { return layers_; }
  bool hasNamespaces() const { return namespaces_; }

  /// The same program, contained. argv[0] must be an absolute path.
  ProcessSpec contain(ProcessSpec spec, const SandboxPolicy &policy) const;

  /// An Environment error if kopt-sandbox itself failed and did not run the program; else nothing.
  static std::optional<Error> refusal(int exitCode, const std::string &errorText);

private:
  std::filesystem::path launcher_;
  std::vector<std::string> use_; ///< options of kopt-sandbox that name the layers
  std::vector<SandboxLayer> layers_;
  bool namespaces_ = false, privateProc_ = false;
};

} // namespace kopt
