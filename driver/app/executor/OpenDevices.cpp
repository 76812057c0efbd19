// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/OpenDevices.h"

#include "driver/device/build/Toolchains.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

RunnerHooks hooksOf(const Services &services) {
  return {[&terminal = services.terminal](const std::string &text) { terminal.line(text); },
          [interrupted = services.interrupted] { return interrupted && *interrupted; }};
}

} // namespace

Result<Contained> openContained(const Services &services, SandboxMode mode,
                                std::vector<fs::path> readable) {
  const Installation &installation = services.installation;
  Contained contained;
  KOPT_TRY(contained.sandbox, Sandbox::open(services.processes, installation.sandbox, mode));
  readable.insert(readable.end(), installation.headers.begin(), installation.headers.end());
  // A separate cache from the one for the user's own files.
  contained.compilers =
      CompilerSandbox(contained.sandbox, std::move(readable), cacheFolder() / "contained",
                      installation.cuda.root.forChildren());
  KOPT_TRY(contained.frontend, openFrontend(services, contained.compilers));
  return contained;
}

Result<OpenDevices> openDevices(const Services &services, const DeviceConfig &config,
                                const std::vector<int> &gpus, const fs::path &scratch,
                                const Contained &contained, std::int64_t buildCache) {
  services.terminal.status("opening the device");
  const LoggedStage logged("open the device");
  const Installation &installation = services.installation;
  // It is made visible to the runner, so it must exist first.
  const fs::path built = scratch / "evaluate";
  KOPT_CHECK(createDirectories(built));
  OpenDevices opened;
  KOPT_TRY(opened.pool, startRunners(services.processes, installation.runner, config, gpus,
                                     scratch / "runner", installation.gpuSpecs, hooksOf(services),
                                     {contained.sandbox, {built}, installation.cuda}));
  KOPT_TRY(auto compiler,
           makeEmulatedToolchain(services.processes, installation.frontend, contained.compilers));
  opened.builds =
      std::make_unique<BuildCache>(buildCacheFolder(), std::uintmax_t(buildCache) << 20);
  opened.toolchain = makeRememberingToolchain(std::move(compiler), opened.builds.get());
  const DeviceInfo &device = opened.device();
  if (!device.modelled) {
    opened.emulator = std::move(opened.toolchain);
    KOPT_TRY(auto nvcc,
             makeNvccToolchain(services.processes, installation.cuda, contained.compilers));
    opened.toolchain = makeRememberingToolchain(std::move(nvcc), opened.builds.get());
  }
  services.terminal.line(
      fmt::format("device: {}{} ({}{}), compiler: {}",
                  opened.pool.size() > 1 ? fmt::format("{} x ", opened.pool.size()) : "",
                  device.name, toString(device.kind), device.modelled ? ", times are modelled" : "",
                  opened.toolchain->name()));
  return opened;
}

Result<std::unique_ptr<Runner>> openEmulated(const Services &services, const fs::path &scratch,
                                             const std::string &name, const Sandbox &sandbox) {
  DeviceConfig config;
  config.kind = DeviceKind::Emulated;
  KOPT_TRY(auto runner, startRunner(services.processes, services.installation.runner, config,
                                    scratch / name, services.installation.gpuSpecs,
                                    hooksOf(services), {sandbox, {scratch / "evaluate"}, {}}));
  return runner;
}

} // namespace kopt
