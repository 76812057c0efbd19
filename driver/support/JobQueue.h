// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace kopt {

/// Runs jobs on a few threads, starting them in the order in which they were added. The threads
/// live as long as the queue, so that child processes that a job starts do not die with their
/// thread.
class JobQueue {
public:
  explicit JobQueue(unsigned threads);
  /// Drops jobs that have not begun and waits for the others.
  ~JobQueue();
  JobQueue(const JobQueue &) = delete;
  JobQueue &operator=(const JobQueue &) = delete;

  void add(std::function<void()> job);
  /// Adds the job; the future has what it returns.
  template <class Job> std::future<std::invoke_result_t<Job &>> call(Job job) {
    // Shared, as the thread may still be at the task's end when the future is ready.
    const auto task =
        std::make_shared<std::packaged_task<std::invoke_result_t<Job &>()>>(std::move(job));
    add([task] { (*task)(); });
    return task->get_future();
  }
  /// Runs the job on one of the threads and returns when it has ended. Not for use on a thread of
  /// this queue.
  void runAndWait(std::function<void()> job);

private:
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  bool ending_ = false;
};

} // namespace kopt
