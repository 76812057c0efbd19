// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parallel/WorkPool.h"

#include <algorithm>

namespace kopt::frontend {
namespace {

/// The stack size that Clang uses for its threads, because templates nest deeply.
constexpr unsigned kStackSize = 8u << 20;

} // namespace

WorkPool::~WorkPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (llvm::thread &thread : threads_)
    thread.join();
}

void WorkPool::forEach(std::size_t count, const std::function<void(std::size_t)> &work) {
  if (count == 0)
    return;
  Batch batch{work, count, 0, 0, nullptr};
  std::unique_lock lock(mutex_);
  open_.push_back(&batch);
  for (std::size_t wanted = count - 1; wanted > idle_ && threads_.size() + 1 < jobs_; --wanted)
    threads_.emplace_back(std::optional<unsigned>(kStackSize), [this] { loop(); });
  wake_.notify_all();
  while (batch.next < batch.count)
    runNext(batch, lock);
  finished_.wait(lock, [&] { return batch.running == 0; });
  if (batch.problem)
    std::rethrow_exception(batch.problem);
}

void WorkPool::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !open_.empty(); });
    --idle_;
    if (stopping_)
      return;
    runNext(*open_.back(), lock);
  }
}

void WorkPool::runNext(Batch &batch, std::unique_lock<std::mutex> &lock) {
  std::size_t index = batch.next++;
  ++batch.running;
  if (batch.next == batch.count)
    open_.erase(std::find(open_.begin(), open_.end(), &batch));
  lock.unlock();
  std::exception_ptr problem;
  try {
    batch.work(index);
  } catch (...) {
    problem = std::current_exception();
  }
  lock.lock();
  if (problem && !batch.problem)
    batch.problem = problem;
  if (--batch.running == 0 && batch.next == batch.count)
    finished_.notify_all();
}

} // namespace kopt::frontend
