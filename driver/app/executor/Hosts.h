// SPDX-License-Identifier: Apache-2.0
// How workers are started on other machines: by ssh, or by srun in an allocation of Slurm.
#pragma once

#include "driver/app/services/Services.h"
#include "driver/config/ExecutorChoice.h"
#include "driver/device/worker/WorkerLink.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// An allocation of Slurm, which ends with this object, or with kopt, if kopt asked for it. May be
/// used by several threads.
class Allocation {
public:
  /// The allocation that kopt runs in, if the choice has no options, or else a new one. Waits in
  /// the queue as long as it takes. Fails with Environment, with what Slurm says.
  static Result<std::shared_ptr<Allocation>> open(const Services &services,
                                                  const ExecutorChoice &choice);
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;

  /// The job, which is asked for again if it was kopt's and is gone. Fails as open(), and with
  /// Interrupted once `stop` says that nobody waits.
  Result<std::string> job(const std::function<bool()> &stop);
  /// Time in the queue since open().
  Duration waited() const;
  unsigned tasks() const { return tasks_; }
  /// A command of Slurm, where it is asked.
  std::vector<std::string> asked(const std::vector<std::string> &argv) const;

private:
  Allocation(const Services &services, ExecutorChoice choice)
      : services_(services), choice_(std::move(choice)) {}
  /// The caller holds mutex_, or nobody else knows it.
  Status ask(const std::function<bool()> &stop);

  Services services_;
  const ExecutorChoice choice_;
  std::mutex mutex_; ///< guards holder_ and job_
  std::unique_ptr<InteractiveProcess> holder_;
  std::string job_;
  unsigned tasks_ = 1;
  bool isOurs_ = false;
  mutable std::mutex times_; ///< guards the two below
  Duration waited_{};
  std::optional<std::chrono::steady_clock::time_point> waitsSince_;
};

struct WorkerCommands {
  std::vector<WorkerCommand> all;
  std::shared_ptr<Allocation> allocation; ///< null: hosts of ssh
};

/// One command for each worker: for each of `gpus` of each host of ssh, or for each task of an
/// allocation. Sends this kopt to hosts of ssh that do not have it; nodes of Slurm see its folder.
/// Fails with Environment, naming the host, and as Allocation::open().
Result<WorkerCommands> workerCommands(const Services &services, const HostSettings &settings);

} // namespace kopt
