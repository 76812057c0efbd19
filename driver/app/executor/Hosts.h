// SPDX-License-Identifier: Apache-2.0
// How workers are started on other machines: by ssh, or by srun in an allocation of Slurm.
#pragma once

#include "driver/app/services/Services.h"
#include "driver/config/ExecutorChoice.h"
#include "driver/device/worker/WorkerLink.h"

#include <string>
#include <vector>

namespace kopt {

/// An allocation of Slurm, ended by the destructor if kopt asked for it.
class Allocation {
public:
  /// The allocation that kopt runs in, or else a new one. Waits in the queue as long as it takes.
  /// Fails with Environment, with what Slurm says, or Interrupted.
  static Result<Allocation> open(const Services &services, const std::vector<std::string> &options);
  Allocation(Allocation &&other) noexcept;
  Allocation &operator=(Allocation &&other) = delete;
  ~Allocation();

  const std::string &job() const { return job_; }
  unsigned tasks() const { return tasks_; }

private:
  explicit Allocation(ProcessRunner &processes) : processes_(&processes) {}

  ProcessRunner *processes_;
  std::string job_;
  unsigned tasks_ = 1;
  bool isOurs_ = false;
};

/// One command for each worker on hosts of ssh: one for each of `gpus` of each host. Sends this
/// kopt to hosts that do not have it. Fails with Environment, naming the host.
Result<std::vector<WorkerCommand>> sshWorkers(const Services &services,
                                              const HostSettings &settings);
/// One command for each task of the allocation; the nodes see this kopt's folder, or `program`.
std::vector<WorkerCommand> slurmWorkers(const Allocation &allocation, const HostSettings &settings,
                                        const std::filesystem::path &self);

} // namespace kopt
