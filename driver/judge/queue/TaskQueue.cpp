// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/queue/TaskQueue.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

TaskQueue::TaskQueue(std::vector<Lane> lanes, Calls calls)
    : lanes_(std::move(lanes)), calls_(std::move(calls)), isLost_(lanes_.size()) {}

void TaskQueue::drain() {
  {
    const std::lock_guard turn(turn_);
    isDraining_ = true;
    waiting_.clear();
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    static_cast<void>(on(lane, [] { return Status(); }));
}

std::optional<std::size_t> TaskQueue::first() {
  const std::lock_guard turn(turn_);
  const auto left = std::ranges::find(isLost_, char(false));
  return left == isLost_.end() ? std::nullopt : std::optional(std::size_t(left - isLost_.begin()));
}

Status TaskQueue::on(std::size_t lane, const std::function<Status()> &function) {
  if (!hasThreads())
    return function();
  Status status;
  lanes_[lane].thread->runAndWait([&] { status = function(); });
  return status;
}

Status TaskQueue::onFirst(const std::function<Status(std::size_t)> &function) {
  while (const auto lane = first()) {
    bool isLost = false;
    const Status status = on(*lane, [&]() -> Status {
      const Status own = function(*lane);
      isLost = !own && calls_.isLoss(*lane, own.error());
      if (isLost)
        lose(*lane, own.error(), nullptr);
      return own;
    });
    if (!isLost)
      return status;
  }
  return tl::unexpected(*ended_);
}

void TaskQueue::lose(std::size_t lane, const Error &error, const TaskPointer &task) {
  const std::string &name = lanes_[lane].name;
  std::size_t left = 0;
  bool isWanted = true;
  {
    const std::lock_guard turn(turn_);
    isLost_[lane] = true;
    isWanted = !isDraining_;
    left = std::size_t(std::ranges::count(isLost_, char(false)));
    if (task)
      putBack(task, fmt::format("{} left the pool while running it: {}", name, error.what));
    if (left == 0) {
      ended_ = error;
      for (const TaskPointer &waiting : waiting_)
        waiting->answer.set_value(tl::unexpected(error));
      waiting_.clear();
    }
    wake(); // idle lanes may have work again
  }
  if (left > 0 && isWanted && calls_.tell)
    calls_.tell(fmt::format("{} leaves the pool, {} left: {}", name, left, error.what));
}

void TaskQueue::begin(const std::vector<Candidate> &candidates) {
  if (!hasThreads())
    return; // the only lane works in wait()
  const std::lock_guard turn(turn_);
  for (const Candidate &candidate : candidates)
    if (!isBegun(candidate))
      add(candidate);
  wake();
}

TaskQueue::TaskPointer TaskQueue::add(const Candidate &candidate) {
  const auto task = std::make_shared<Task>();
  task->candidate = candidate;
  begun_[candidate.contentHash()] = task;
  if (ended_)
    task->answer.set_value(tl::unexpected(*ended_));
  else
    waiting_.push_back(task);
  return task;
}

void TaskQueue::wake() {
  if (!hasThreads() || isDraining_)
    return;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    lanes_[lane].thread->add([this, lane] { calls_.work(lane); });
}

Result<Trial> TaskQueue::wait(const Candidate &candidate) {
  const std::string hash = candidate.contentHash();
  TaskPointer task;
  if (const auto begun = begun_.find(hash); begun != begun_.end()) {
    task = begun->second;
  } else {
    {
      const std::lock_guard turn(turn_);
      task = add(candidate);
      wake();
    }
    if (!hasThreads())
      calls_.work(0);
  }
  Result<Trial> trial = task->answer.get_future().get();
  begun_.erase(hash);
  if (trial)
    trial->findings.insert(trial->findings.end(), task->notes.begin(), task->notes.end());
  return trial;
}

TaskQueue::TaskPointer TaskQueue::next(std::size_t lane,
                                       const std::function<bool(Task &)> &accept) {
  const std::lock_guard turn(turn_);
  while (!waiting_.empty() && !isLost_[lane]) {
    const TaskPointer task = waiting_.front();
    waiting_.pop_front();
    if (!accept || accept(*task))
      return task;
  }
  return nullptr;
}

void TaskQueue::again(const TaskPointer &task, const std::string &why) {
  const std::lock_guard turn(turn_);
  if (ended_)
    task->answer.set_value(tl::unexpected(*ended_));
  else
    putBack(task, why);
  wake();
}

void TaskQueue::putBack(const TaskPointer &task, const std::string &why) {
  task->notes.push_back({"incident", Severity::Note, "judged again, as " + why, ""});
  if (!isDraining_)
    waiting_.push_front(task);
}

} // namespace kopt
