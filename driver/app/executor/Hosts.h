// SPDX-License-Identifier: Apache-2.0
// How workers are started on other machines: by ssh, or by srun in an allocation of Slurm.
#pragma once

#include "driver/app/services/Services.h"
#include "driver/config/ExecutorChoice.h"
#include "driver/device/worker/WorkerLink.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kopt {

/// An allocation of Slurm, ended by the destructor if kopt asked for it. May be used by several
/// threads.
class Allocation {
public:
  /// The allocation that kopt runs in, if there are no options, or else a new one. Waits in the
  /// queue as long as it takes. Fails with Environment, with what Slurm says.
  static Result<std::shared_ptr<Allocation>> open(const Services &services,
                                                  const std::vector<std::string> &options);
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;
  ~Allocation();

  /// The job, which is asked for again if it was kopt's and is gone. Fails as open().
  Result<std::string> job();
  unsigned tasks() const { return tasks_; }

private:
  Allocation(ProcessRunner &processes, std::vector<std::string> options)
      : processes_(processes), options_(std::move(options)) {}
  Status ask(); ///< the caller holds mutex_, or nobody else knows it

  ProcessRunner &processes_;
  const std::vector<std::string> options_;
  std::mutex mutex_; ///< guards job_
  std::string job_;
  unsigned tasks_ = 1;
  bool isOurs_ = false;
};

/// One command for each worker on hosts of ssh: one for each of `gpus` of each host. Sends this
/// kopt to hosts that do not have it. Fails with Environment, naming the host.
Result<std::vector<WorkerCommand>> sshWorkers(const Services &services,
                                              const HostSettings &settings);
/// One command for each task of the allocation; the nodes see this kopt's folder, or `program`.
std::vector<WorkerCommand> slurmWorkers(const std::shared_ptr<Allocation> &allocation,
                                        const HostSettings &settings,
                                        const std::filesystem::path &self);

} // namespace kopt
