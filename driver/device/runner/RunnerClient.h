// SPDX-License-Identifier: Apache-2.0
// The driver's interface to kopt-runner, a child process that owns a device and runs launches.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/device/Runner.h"
#include "driver/device/runner/DeviceLock.h"
#include "driver/sandbox/Sandbox.h"
#include "driver/support/Process.h"

#include <functional>
#include <memory>

namespace kopt {

/// The sandbox of kopt-runner, the files that it may read besides its own (modules, captured
/// inputs), and the tools that may watch it on a GPU.
struct RunnerContainment {
  Sandbox sandbox;
  std::vector<std::filesystem::path> readable;
  CudaToolkit cuda;
};

/// Starts `kopt-runner`. Buffers are passed as open descriptors of shared memory, or of files in
/// `scratch` if memory is short. A request with an ambiguous failure runs once more in a fresh
/// process. After a crash, a hang or a fault the device must pass a probe; otherwise that call and
/// all later ones fail with Environment. Fails with Environment if no device of that kind answers,
/// saying why.
Result<std::unique_ptr<Runner>>
startRunner(ProcessRunner &processes, const std::filesystem::path &program,
            const DeviceConfig &config, const std::filesystem::path &scratch,
            const std::filesystem::path &gpuSpecs, RunnerHooks hooks = {},
            RunnerContainment containment = {});

} // namespace kopt
