// SPDX-License-Identifier: Apache-2.0
// What every flow that runs kernels opens: the sandbox around compilers and candidates, a front end
// for their text, and devices with their compiler.
#pragma once

#include "driver/app/services/Sources.h"
#include "driver/device/Toolchain.h"
#include "driver/device/build/BuildCache.h"
#include "driver/device/runner/RunnerPool.h"
#include "driver/sandbox/CompilerSandbox.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace kopt {

/// The sandbox, and the front end that reads text of candidates in it.
struct Contained {
  Sandbox sandbox;
  CompilerSandbox compilers;
  std::unique_ptr<Frontend> frontend;
};
/// Compilers in the sandbox may read the headers of the installation and the files `readable`.
/// Fails with Environment.
Result<Contained> openContained(const Services &services, SandboxMode mode,
                                std::vector<std::filesystem::path> readable);

/// A device, or several of one kind, with their compiler.
struct OpenDevices {
  std::vector<PooledRunner> pool;     ///< at least one
  std::unique_ptr<BuildCache> builds; ///< of both compilers
  std::unique_ptr<Toolchain> toolchain;
  std::unique_ptr<Toolchain> emulator; ///< for the emulated devices in addition to a GPU

  Runner &runner() const { return *pool.front().runner; } ///< the first one
  const DeviceInfo &device() const { return runner().device(); }
};
/// Opens the device, or one for each of `gpus` (as startRunners() takes them), finds its compiler,
/// and says so. Builds go to the folder "evaluate" of `scratch`; `buildCache` MiB of them are kept
/// for later runs. Fails with Usage or Environment.
Result<OpenDevices> openDevices(const Services &services, const DeviceConfig &config,
                                const std::vector<int> &gpus, const std::filesystem::path &scratch,
                                const Contained &contained, std::int64_t buildCache);
/// Opens an emulated device in addition to a GPU, with the scratch folder `name`.
Result<std::unique_ptr<Runner>> openEmulated(const Services &services,
                                             const std::filesystem::path &scratch,
                                             const std::string &name, const Sandbox &sandbox);

} // namespace kopt
