// SPDX-License-Identifier: Apache-2.0
// Starts runners for several identical GPUs. One thread owns each runner, because children die with
// the thread that started them.
#pragma once

#include "driver/device/Runner.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/JobQueue.h"

#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct PooledRunner {
  std::string name; ///< "1 GPU-8f0e…": ordinal and UUID; "0 emulated"
  std::unique_ptr<JobQueue>
      thread; ///< null for a single runner, which belongs to the caller's thread
  std::unique_ptr<Runner> runner;
};

/// Calls startRunner() for each of the GPUs with these distinct ordinals, at the same time; if
/// there are no ordinals, for all GPUs that CUDA shows. For emulated devices the ordinals are only
/// names. Fails with Usage if devices differ in name, architecture or memory, as their times would
/// not be comparable, or if two are the same device. The hooks are called from several threads.
Result<std::vector<PooledRunner>>
startRunners(ProcessRunner &processes, const std::filesystem::path &program,
             const DeviceConfig &config, const std::vector<int> &ordinals,
             const std::filesystem::path &scratch, const std::filesystem::path &gpuSpecs,
             const RunnerHooks &hooks, const RunnerContainment &containment);

/// The differences between two devices that matter for a pool: "architecture (sm_90 and sm_80)";
/// empty if there are none.
std::string differenceInKind(const DeviceInfo &a, const DeviceInfo &b);

} // namespace kopt
