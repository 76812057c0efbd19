// SPDX-License-Identifier: Apache-2.0
#include "driver/support/JobQueue.h"

#include <csignal>
#include <utility>

namespace kopt {

JobQueue::JobQueue(unsigned threads) {
  // Only the main thread handles signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (unsigned i = 0; i < threads; ++i)
    threads_.emplace_back([this] { loop(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

JobQueue::~JobQueue() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (std::thread &thread : threads_)
    thread.join();
}

void JobQueue::add(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void JobQueue::runAndWait(std::function<void()> job) { call(std::move(job)).get(); }

void JobQueue::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (ending_)
      return;
    const std::function<void()> job = std::exchange(jobs_.front(), nullptr);
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

} // namespace kopt
