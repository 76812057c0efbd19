// SPDX-License-Identifier: Apache-2.0
// Hardware counters of launches through CUPTI, in a kopt-runner that does nothing else: a process
// that has counted once launches through CUPTI from then on, and what is timed must not.
#pragma once

#include "driver/device/runner/RunnerProcess.h"

namespace kopt {

class CounterProcess {
public:
  /// As RunnerProcess; nothing is started before the first count(). `cupti` is what
  /// CudaToolkit::cuptiForChildren() says.
  CounterProcess(ProcessRunner &processes, std::vector<std::string> command, Sandbox sandbox,
                 SandboxPolicy policy, std::string cupti)
      : process_(processes, std::move(command), std::move(sandbox), std::move(policy),
                 {{"KOPT_CUPTI", std::move(cupti)}}) {}

  /// Counters of one launch of a kernel, source "cupti": hardwareCounters() and the driver's facts.
  /// The caller holds the device's lock. `descriptors` are open contents as the launch names them,
  /// `deadline` is for everything. Where there can be no counters (no CUPTI, denied, the process
  /// lost) they are empty, with the reason in `detail`; a reason that will not go away is given
  /// once and nothing is tried after it. No failure of this process is a candidate's.
  ProfileOutcome count(const std::filesystem::path &module, const std::string &symbol,
                       const Launch &launch, const RunOptions &options, Duration deadline,
                       const std::vector<int> &descriptors);

  /// It holds a context on the device.
  bool isRunning() const { return process_.isRunning(); }

private:
  Result<runtime::protocol::Message> answer(runtime::protocol::Message request, Duration deadline,
                                            const std::vector<int> &descriptors);
  Result<ProfileOutcome> tryCount(const std::filesystem::path &module, const std::string &symbol,
                                  const Launch &launch, const RunOptions &options,
                                  Duration deadline, const std::vector<int> &descriptors);

  RunnerProcess process_;
  int failures_ = 0;         ///< in a row
  bool unavailable_ = false; ///< and said so
};

/// The counters of a reply to `profile`, those with a finite value.
Counters countersOf(const runtime::protocol::Message &reply);
/// Seconds by stage of a reply.
StageSeconds stagesOf(const runtime::protocol::Message &reply);

} // namespace kopt
