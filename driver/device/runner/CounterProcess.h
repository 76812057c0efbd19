// SPDX-License-Identifier: Apache-2.0
// Takes hardware counters of launches through CUPTI, in a kopt-runner that does nothing else: once
// a process has counted, all its launches go through CUPTI, and timed launches must not.
#pragma once

#include "driver/device/runner/RunnerProcess.h"

namespace kopt {

/// One launch of the kernel `symbol` of a module. Refers to objects of the caller.
struct WatchedLaunch {
  const std::filesystem::path &module;
  const std::string &symbol;
  const Launch &launch;
  const RunOptions &options;
};

class CounterProcess {
public:
  /// Arguments as for RunnerProcess; nothing is started before the first prepare() or count().
  /// `cupti` is the result of CudaToolkit::cuptiForChildren().
  CounterProcess(ProcessRunner &processes, std::vector<std::string> command, Sandbox sandbox,
                 SandboxPolicy policy, std::string cupti)
      : process_(processes, std::move(command), std::move(sandbox), std::move(policy),
                 {{"KOPT_CUPTI", std::move(cupti)}}) {}

  /// Takes the counters of one launch of a kernel, with source "cupti": hardwareCounters() and the
  /// driver's facts. The caller holds the device's lock. `descriptors` are the open contents in the
  /// order of the launch's buffers; `deadline` covers the whole count. If there are no counters (no
  /// CUPTI, no permission, the process is lost) they are empty, with the reason in `detail`. After
  /// a permanent failure the reason is given once, and nothing more is tried. A failure of this
  /// process is never a candidate's failure.
  ProfileOutcome count(const WatchedLaunch &watched, Duration deadline,
                       const std::vector<int> &descriptors);

  /// Starts the process without waiting for it, as CUPTI takes about a second to start. Does
  /// nothing if it runs or cannot count.
  void prepare();
  /// Ends the process.
  void stop() {
    process_.stopAhead();
    process_.stop();
  }
  /// Waits until a process that prepare() has started is ready and idle.
  void awaitReady() { process_.awaitAhead(); }
  /// The number of processes that hold a context on the device: 0 or 1.
  unsigned running() const { return process_.isRunning() + process_.ahead(); }

private:
  Result<ProfileOutcome> tryCount(const WatchedLaunch &watched, Duration deadline,
                                  const std::vector<int> &descriptors);

  RunnerProcess process_;
  int failures_ = 0;         ///< failures in a row
  bool unavailable_ = false; ///< permanently; the reason has been given
};

/// The costs of lines in a reply to `profile` or `time`.
std::vector<LineCost> lineCostsOf(const runtime::protocol::Message &reply);

/// The counters with a finite value of a reply to `profile`.
Counters countersOf(const runtime::protocol::Message &reply);
/// The seconds by stage of a reply.
StageSeconds stagesOf(const runtime::protocol::Message &reply);

} // namespace kopt
