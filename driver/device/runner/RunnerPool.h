// SPDX-License-Identifier: Apache-2.0
// Several GPUs of one kind, each with a runner and the thread on which alone that is used: a runner
// is no thread's but one, and what it starts dies with the thread that started it.
#pragma once

#include "driver/device/Runner.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/JobQueue.h"

#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct PooledRunner {
  std::string name;                 ///< "1 GPU-8f0e…": ordinal and UUID; "0 emulated"
  std::unique_ptr<JobQueue> thread; ///< null where there is one runner: it is the caller's thread's
  std::unique_ptr<Runner> runner;
};

/// As startRunner(), once for each of the GPUs with these ordinals, which are distinct, at the same
/// time; none: for all that CUDA shows. Emulated devices have them too: just as names. Fails with
/// Usage where they differ in name, architecture or memory, or are the same device twice: times of
/// one would be no measure of another's. The hooks are called from several threads.
Result<std::vector<PooledRunner>>
startRunners(ProcessRunner &processes, const std::filesystem::path &program,
             const DeviceConfig &config, const std::vector<int> &ordinals,
             const std::filesystem::path &scratch, const std::filesystem::path &gpuSpecs,
             const RunnerHooks &hooks, const RunnerContainment &containment);

/// What makes two devices different for a pool: "arch sm_90 and sm_80"; empty: nothing.
std::string differenceInKind(const DeviceInfo &a, const DeviceInfo &b);

} // namespace kopt
