// SPDX-License-Identifier: Apache-2.0
// A fair mutex: threads get it in the order in which they asked, so a thread that asks again at
// once does not overtake one that waits.
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
