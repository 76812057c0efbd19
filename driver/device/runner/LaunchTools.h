// SPDX-License-Identifier: Apache-2.0
// Tools that watch one launch on a GPU from a separate process: hardware counters,
// compute-sanitizer, and Nsight Compute's sections.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/device/profile/NcuProfiler.h"
#include "driver/device/runner/CounterProcess.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// The caller must hold the device's lock during each call.
class LaunchTools {
public:
  /// `runner` is the command of kopt-runner, `scratch` the folder for the tools' files.
  LaunchTools(ProcessRunner &processes, std::vector<std::string> runner, Sandbox sandbox,
              SandboxPolicy policy, CudaToolkit cuda, std::filesystem::path scratch)
      : processes_(processes), runner_(runner), cuda_(std::move(cuda)),
        counting_(processes, std::move(runner), std::move(sandbox), std::move(policy),
                  cuda_.cuptiForChildren()),
        scratch_(std::move(scratch)) {}

  /// Takes counters through CUPTI, or else through Nsight Compute; `source` names which. Empty if
  /// neither can count, with the reason in `detail`. `descriptors` are the open contents of the
  /// launch.
  Result<ProfileOutcome> count(const WatchedLaunch &watched, const std::vector<int> &descriptors);
  /// Runs compute-sanitizer's tools; returns one report for each.
  Result<std::vector<SanitizerReport>> sanitize(const WatchedLaunch &watched,
                                                const std::vector<std::string> &tools);
  Result<NcuReport> inspect(const WatchedLaunch &watched, const std::vector<std::string> &sections);

  /// Starts what count() needs, without waiting for it.
  void prepareCounting() { counting_.prepare(); }
  /// Ends the process that counts; the next count() starts another.
  void stopCounting() { counting_.stop(); }
  /// Waits until what prepareCounting() has started is idle.
  void awaitReady() { counting_.awaitReady(); }
  /// The number of processes that hold a context on the device while no tool watches a launch.
  unsigned running() const { return counting_.running(); }

private:
  ProcessRunner &processes_;
  std::vector<std::string> runner_;
  CudaToolkit cuda_;
  CounterProcess counting_;
  std::filesystem::path scratch_;
  std::unique_ptr<NcuProfiler> ncu_; ///< null as long as CUPTI gives counters
};

} // namespace kopt
