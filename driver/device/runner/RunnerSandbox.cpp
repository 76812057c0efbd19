// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/RunnerSandbox.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>

namespace kopt {

namespace {

namespace fs = std::filesystem;

/// The runner writes only into buffers, whose sizes kopt sets; other files are caches of the
/// driver.
constexpr std::uint64_t kFileBytes = 1ull << 30;
constexpr std::uint64_t kOpenFiles =
    4096; ///< the driver opens its device nodes once for each GPU and context

/// The variables that the CUDA driver and the loader use.
const std::vector<std::string> kVariables = {
    // of any program
    "PATH", "LANG", "LC_*", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS",
    // of the driver
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_FORCE_PTX_JIT", "NVIDIA_*"};

} // namespace

std::vector<fs::path> gpuNodes(const fs::path &folder) {
  std::vector<fs::path> nodes;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    for (const char *prefix : {"nvidia", "nvhost", "nvmap", "nvgpu", "nvsciipc", "dxg"})
      if (name.starts_with(prefix)) {
        nodes.push_back(entry.path());
        break;
      }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

SandboxPolicy runnerPolicy(const RunnerPlaces &places) {
  SandboxPolicy policy;
  policy.readable = places.readable;
  policy.readable.push_back(places.program.parent_path());
  // The libraries of an installed package are beside its programs.
  policy.readable.push_back(places.program.parent_path().parent_path() / "lib" / "kopt");
  if (const char *libraries = std::getenv("LD_LIBRARY_PATH"))
    for (const std::string &folder : split(libraries, ':'))
      if (folder.starts_with('/'))
        policy.readable.emplace_back(folder);
  policy.environment = kVariables;
  policy.fileBytes = kFileBytes;
  policy.openFiles = kOpenFiles;
  policy.processes = 1;
  if (places.cuda) {
    policy.devices = gpuNodes();
    policy.writesOwnProc = true;
    policy.sysfs = true;       // the driver reads a GPU's place on the bus there
    policy.unixSockets = true; // it looks for MPS and the persistence daemon, which are not visible
  }
  return policy;
}

} // namespace kopt
