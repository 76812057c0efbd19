// SPDX-License-Identifier: Apache-2.0
// Judges candidates on workers elsewhere. Each worker judges on its own device, beside the baseline
// on the same device; what a candidate is worth does not depend on which.
#pragma once

#include "driver/device/worker/Worker.h"
#include "driver/judge/Judge.h"
#include "driver/judge/SeenCode.h"
#include "driver/judge/queue/TaskQueue.h"
#include "driver/judge/remote/JudgeTask.h"

#include <functional>

namespace kopt {

/// Used from one thread. A worker that is lost is started anew, and what it was judging is judged
/// again, there or by another; a candidate with which more workers are lost than one may be started
/// anew is refused.
class RemoteJudge final : public Judge {
public:
  /// The workers must outlive it, and are of one kind. `secondsLeft` is as JudgeServices has it;
  /// `tell` reports to the user.
  RemoteJudge(std::vector<Worker *> workers, JudgeTask task, std::function<double()> secondsLeft,
              WorkerLink::Tell tell);
  /// Drops candidates that have not begun and waits for the others.
  ~RemoteJudge() override;
  RemoteJudge(const RemoteJudge &) = delete;
  RemoteJudge &operator=(const RemoteJudge &) = delete;

  /// Measures the user's own kernel on the first worker; the others do so before their first
  /// candidate.
  Result<Baseline> baseline() override;
  void begin(const std::vector<Candidate> &candidates) override;
  Result<Trial> judge(const Candidate &candidate, Purpose purpose,
                      Stage upTo = Stage::Time) override;
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override;
  Status addCounters(Trial &trial) override;
  void remember(const Trial &trial) override;

private:
  /// A worker, and what the one that runs now was told.
  struct Lane {
    Worker *worker = nullptr;
    unsigned opened = 0; ///< Worker::starts() when it was given the task; 0: not yet
    std::size_t remembered = 0;
  };

  Result<BaselineReply> open(Lane &lane, WorkerLink &link);
  /// Brings the lane's worker to know all that it has to know.
  Status bring(Lane &lane, WorkerLink &link);
  /// Asks the first worker that is left; if it is lost, again as long as it can be started anew.
  Result<nlohmann::json> askFirst(const char *method, const nlohmann::json &params);

  void work(std::size_t lane);
  nlohmann::json requestOf(const Candidate &candidate, Purpose purpose, Stage upTo) const;

  JudgeTask task_;
  const std::string id_; ///< of this judge among those of a worker
  std::function<double()> secondsLeft_;
  std::vector<Lane> lanes_;
  std::vector<Launch> launches_; ///< the baseline's, as the first worker learned them
  SeenCode seenCode_;
  TaskQueue queue_;
  std::vector<nlohmann::json> memory_; ///< trials that every worker has to know; for queue_.turn()
};

} // namespace kopt
