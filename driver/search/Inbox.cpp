// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Inbox.h"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace kopt {
namespace {

class QueuedInbox final : public Inbox {
public:
  void put(Arrival arrival) override {
    {
      const std::lock_guard lock(mutex_);
      arrivals_.push_back(std::move(arrival));
    }
    arrived_.notify_one();
  }
  std::optional<Arrival> take() override {
    const std::lock_guard lock(mutex_);
    return arrivals_.empty() ? std::nullopt : std::optional(pop());
  }
  Arrival wait() override {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !arrivals_.empty(); });
    return pop();
  }

private:
  Arrival pop() {
    Arrival arrival = std::move(arrivals_.front());
    arrivals_.pop_front();
    return arrival;
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Arrival> arrivals_;
};

} // namespace

std::unique_ptr<Inbox> makeInbox() { return std::make_unique<QueuedInbox>(); }

} // namespace kopt
