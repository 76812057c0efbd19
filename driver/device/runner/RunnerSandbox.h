// SPDX-License-Identifier: Apache-2.0
// What kopt-runner may see: the device, its own program, the modules that were built. No key, no
// network, no file of the user's, and nothing that it can write to but the buffers it is handed.
#pragma once

#include "driver/sandbox/Sandbox.h"

namespace kopt {

struct RunnerPlaces {
  std::filesystem::path program; ///< kopt-runner
  std::vector<std::filesystem::path>
      readable;      ///< modules, captured inputs, the description of a GPU, CUPTI
  bool cuda = false; ///< it drives a GPU: the driver's device nodes
};

SandboxPolicy runnerPolicy(const RunnerPlaces &places);

/// The nodes of NVIDIA's driver that this machine has below `folder`; those of Tegra and of WSL
/// too.
std::vector<std::filesystem::path> gpuNodes(const std::filesystem::path &folder = "/dev");

} // namespace kopt
