// SPDX-License-Identifier: Apache-2.0
// The driver's side of kopt-runner: one child process that owns a device and runs what it is given.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/device/Runner.h"
#include "driver/sandbox/Sandbox.h"
#include "driver/support/Process.h"

#include <functional>
#include <memory>

namespace kopt {

/// How kopt-runner is contained, which files it may read besides its own (modules, captured
/// inputs), and the tools that may watch it on a GPU.
struct RunnerContainment {
  Sandbox sandbox;
  std::vector<std::filesystem::path> readable;
  CudaToolkit cuda;
};

/// What a runner asks of the program around it while another kopt uses the device.
struct RunnerHooks {
  std::function<void(const std::string &)> tell; ///< what is waited for, once a wait
  std::function<bool()> interrupted;             ///< true: do not wait any longer
};

/// Starts `kopt-runner`; buffers travel through shared memory, or files under `scratch` where there
/// is too little; it is handed them open. What it cannot be told whose doing it is runs again in a
/// fresh process, once; after a crash, a hang or a fault the device must pass a probe, or this and
/// every later call fails with Environment. Fails with Environment where no device of that kind
/// answers, saying why.
Result<std::unique_ptr<Runner>>
startRunner(ProcessRunner &processes, const std::filesystem::path &program,
            const DeviceConfig &config, const std::filesystem::path &scratch,
            const std::filesystem::path &gpuSpecs, RunnerHooks hooks = {},
            RunnerContainment containment = {});

} // namespace kopt
