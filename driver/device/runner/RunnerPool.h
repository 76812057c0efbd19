// SPDX-License-Identifier: Apache-2.0
// Several identical GPUs, each with a runner that one thread owns: children die with the thread
// that started them.
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

/// As startRunner(), once for each of the GPUs with these ordinals, which are distinct, at the same
/// time; none: for all that CUDA shows. For emulated devices the ordinals are only names. Fails
/// with Usage where they differ in name, architecture or memory, or are the same device twice:
/// times of one would not be comparable with another's. The hooks are called from several threads.
Result<std::vector<PooledRunner>>
startRunners(ProcessRunner &processes, const std::filesystem::path &program,
             const DeviceConfig &config, const std::vector<int> &ordinals,
             const std::filesystem::path &scratch, const std::filesystem::path &gpuSpecs,
             const RunnerHooks &hooks, const RunnerContainment &containment);

/// What makes two devices different for a pool: "arch sm_90 and sm_80"; empty: nothing.
std::string differenceInKind(const DeviceInfo &a, const DeviceInfo &b);

} // namespace kopt
