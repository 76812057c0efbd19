// SPDX-License-Identifier: Apache-2.0
// Defines what kopt-runner may see: the device, its own program, and built modules. It sees no
// keys, no network and no files of the user, and can write only to the buffers that it gets.
#pragma once

#include "driver/sandbox/Sandbox.h"

namespace kopt {

struct RunnerPlaces {
  std::filesystem::path program; ///< kopt-runner
  std::vector<std::filesystem::path>
      readable;      ///< modules, captured inputs, a GPU's description, CUPTI
  bool cuda = false; ///< it drives a GPU and needs the driver's device nodes
};

SandboxPolicy runnerPolicy(const RunnerPlaces &places);

/// The device nodes of NVIDIA's driver in `folder`, including those of Tegra and WSL.
std::vector<std::filesystem::path> gpuNodes(const std::filesystem::path &folder = "/dev");

} // namespace kopt
