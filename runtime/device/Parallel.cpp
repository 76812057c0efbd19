// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

namespace kopt::runtime {

namespace {

constexpr unsigned kMaxThreads = 16; ///< with more, host memory is the limit
constexpr std::uint64_t kPiece = 1u << 20;

/// The number of processors whose time the control group of this process grants; 0: no known limit.
double grantedProcessors() {
  double quota = 0, period = 0;
  // "max" is not a number.
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period)
    return period > 0 ? quota / period : 0;
  std::ifstream oldQuota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream oldPeriod("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (oldQuota >> quota && oldPeriod >> period && quota > 0 && period > 0)
    return quota / period;
  return 0;
}

/// One call of parallelFor: each thread takes the next piece until none is left.
struct Job {
  std::uint64_t count, grain;
  const std::function<void(std::uint64_t, std::uint64_t)> &part;
  std::atomic<std::uint64_t> next{0};

  std::uint64_t pieces() const { return (count + grain - 1) / grain; }
  void work() {
    for (std::uint64_t piece; (piece = next.fetch_add(1)) < pieces();)
      part(piece * grain, std::min(count, (piece + 1) * grain));
  }
};

class Helpers {
public:
  ~Helpers() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread &thread : threads_)
      thread.join();
  }

  void run(Job &job, unsigned helpers) {
    // The helpers are busy, with another thread's job or with the one that makes this call.
    if (inUse_.test_and_set()) {
      job.work();
      return;
    }
    {
      std::lock_guard lock(mutex_);
      grow(helpers);
      job_ = &job;
      wanted_ = unsigned(std::min<std::size_t>(helpers, threads_.size()));
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    wanted_ = 0;
    done_.wait(lock, [&] { return working_ == 0; });
    inUse_.clear();
  }

private:
  void grow(unsigned helpers) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      while (threads_.size() < helpers)
        threads_.emplace_back([this] { loop(); });
    } catch (const std::system_error &) {
      // Run with fewer threads; the caller's own does the rest.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return ending_ || wanted_ > 0; });
      if (ending_)
        return;
      --wanted_;
      ++working_;
      Job &job = *job_;
      lock.unlock();
      job.work();
      lock.lock();
      if (--working_ == 0)
        done_.notify_all();
    }
  }

  std::atomic_flag inUse_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  Job *job_ = nullptr;
  unsigned wanted_ = 0, working_ = 0;
  bool ending_ = false;
};

} // namespace

unsigned processors() {
  static const unsigned count = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    unsigned allowed = sched_getaffinity(0, sizeof set, &set) == 0
                           ? unsigned(CPU_COUNT(&set))
                           : std::thread::hardware_concurrency();
    if (const double granted = grantedProcessors(); granted > 0)
      allowed = std::min(allowed, unsigned(std::ceil(granted)));
    return std::max(allowed, 1u);
  }();
  return count;
}

void parallelFor(std::uint64_t count, std::uint64_t grain,
                 const std::function<void(std::uint64_t, std::uint64_t)> &part, unsigned threads) {
  static Helpers helpers;
  Job job{count, std::max<std::uint64_t>(grain, 1), part};
  if (threads == 0)
    threads = std::min(processors(), kMaxThreads);
  threads = unsigned(std::min<std::uint64_t>(threads, job.pieces()));
  if (threads <= 1)
    job.work();
  else
    helpers.run(job, threads - 1);
}

unsigned threadsFor(std::uint64_t bytes) {
  // About 50 us of work; waking a thread takes about 10 us.
  constexpr std::uint64_t kEach = 512u << 10;
  const std::uint64_t most = std::min(processors(), kMaxThreads);
  return unsigned(std::clamp<std::uint64_t>(bytes / kEach, 1, most));
}

void parallelCopy(void *to, const void *from, std::uint64_t bytes) {
  parallelFor(
      bytes, kPiece,
      [&](std::uint64_t begin, std::uint64_t end) {
        std::memcpy(static_cast<char *>(to) + begin, static_cast<const char *>(from) + begin,
                    end - begin);
      },
      threadsFor(bytes));
}

std::uint64_t firstDifference(const void *a, const void *b, std::uint64_t bytes, unsigned threads) {
  const auto *left = static_cast<const unsigned char *>(a);
  const auto *right = static_cast<const unsigned char *>(b);
  std::atomic<std::uint64_t> first{bytes};
  parallelFor(
      bytes, kPiece,
      [&](std::uint64_t begin, std::uint64_t end) {
        if (begin >= first || std::memcmp(left + begin, right + begin, end - begin) == 0)
          return;
        const auto at =
            std::uint64_t(std::mismatch(left + begin, left + end, right + begin).first - left);
        for (std::uint64_t known = first; at < known && !first.compare_exchange_weak(known, at);) {
        }
      },
      threads ? threads : threadsFor(bytes));
  return first;
}

} // namespace kopt::runtime
