// SPDX-License-Identifier: Apache-2.0
// A worker that is started anew when it is lost.
#pragma once

#include "driver/device/worker/WorkerLink.h"
#include "driver/support/JobQueue.h"

#include <atomic>
#include <optional>

namespace kopt {

/// How workers are started.
struct WorkerStart {
  ProcessRunner &processes;
  WorkerLink::Tell tell;
  Duration patience{120}; ///< for the greeting: a connection, and opening the device
  unsigned restarts = 3;  ///< of one worker
};

class Worker {
public:
  Worker(WorkerStart start, WorkerCommand command)
      : start_(std::move(start)), command_(std::move(command)) {}
  /// Ends the worker.
  ~Worker();

  /// The thread that the link belongs to: children end with the thread that started them.
  JobQueue &thread() { return thread_; }
  const std::string &name() const { return command_.name; }

  /// The link; starts the worker if it does not run. Fails with Environment once it is gone for
  /// good: it was lost more often than it may be started anew, or another device of another kind
  /// answered in its place. Only on its thread.
  Result<WorkerLink *> link();
  /// What `function` returns for the link; it is called again for the next one as long as the
  /// worker is lost meanwhile. Fails as link(). Only on its thread.
  template <class Function>
  auto ask(Function function) -> decltype(function(std::declval<WorkerLink &>())) {
    for (;;) {
      KOPT_TRY(WorkerLink *const own, link());
      auto answer = function(*own);
      if (answer || !own->isLost())
        return answer;
    }
  }
  /// The same from another thread.
  template <class Function>
  auto askThere(Function function) -> decltype(function(std::declval<WorkerLink &>())) {
    return thread_.call([this, &function] { return ask(function); }).get();
  }
  /// The link if the worker runs; null if not. Only on its thread.
  WorkerLink *running() { return link_ && !link_->isLost() ? link_.get() : nullptr; }
  /// How often it was started: what an earlier one was told is forgotten.
  unsigned starts() const { return starts_; }
  unsigned restarts() const { return start_.restarts; }
  bool isGone() const { return isGone_; }
  /// While set, nobody waits for a start of it, from any thread.
  void giveUpStarting(bool isUp) { gaveUp_ = isUp; }

private:
  WorkerStart start_;
  WorkerCommand command_;
  std::unique_ptr<WorkerLink> link_;
  std::optional<WorkerHello> first_; ///< of the worker that was started first
  std::atomic<unsigned> starts_ = 0;
  std::atomic<bool> isGone_ = false, gaveUp_ = false;
  JobQueue thread_{1}; ///< last, as its jobs use the other members
};

/// What `function` returns for the first worker that is not gone, and its link, as Worker::ask().
/// If it goes meanwhile, the next one is asked. Fails with Environment if none is left.
template <class Function>
auto askFirst(const std::vector<Worker *> &workers, Function function)
    -> decltype(function(std::declval<Worker &>(), std::declval<WorkerLink &>())) {
  decltype(function(std::declval<Worker &>(), std::declval<WorkerLink &>())) answer =
      makeError(ErrorCode::Environment, "no worker is left");
  for (Worker *worker : workers) {
    if (worker->isGone())
      continue;
    answer = worker->askThere([&](WorkerLink &link) { return function(*worker, link); });
    if (!worker->isGone())
      break;
  }
  return answer;
}

} // namespace kopt
