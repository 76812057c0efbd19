// SPDX-License-Identifier: Apache-2.0
// A mutex that is had in the order in which it was asked for: nobody who comes back at once takes
// the turn of one who waits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kopt {

class TurnLock {
public:
  void lock() {
    std::unique_lock hold(mutex_);
    const std::uint64_t mine = asked_++;
    changed_.wait(hold, [&] { return served_ == mine; });
  }
  void unlock() {
    {
      const std::lock_guard hold(mutex_);
      ++served_;
    }
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t asked_ = 0, served_ = 0;
};

} // namespace kopt
