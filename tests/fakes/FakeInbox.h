// SPDX-License-Identifier: Apache-2.0
// An inbox on a fake clock: what is put into it may arrive later, and waiting lets the time pass.
#pragma once

#include "driver/search/Inbox.h"
#include "fakes/FakeClock.h"

#include <map>

namespace kopt::fakes {

class FakeInbox final : public Inbox {
public:
  explicit FakeInbox(FakeClock &clock) : clock_(clock) {}

  void put(Arrival arrival) override { putIn(0, std::move(arrival)); }
  void putIn(double seconds, Arrival arrival) {
    arrivals_.emplace(clock_.now() +
                          std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                              std::chrono::duration<double>(seconds)),
                      std::move(arrival));
  }
  std::optional<Arrival> take() override {
    if (arrivals_.empty() || arrivals_.begin()->first > clock_.now())
      return std::nullopt;
    return std::move(arrivals_.extract(arrivals_.begin()).mapped());
  }
  Arrival wait() override {
    const double seconds =
        std::chrono::duration<double>(arrivals_.begin()->first - clock_.now()).count();
    waited += seconds;
    clock_.advance(seconds);
    return std::move(arrivals_.extract(arrivals_.begin()).mapped());
  }

  double waited = 0; ///< seconds

private:
  FakeClock &clock_;
  std::multimap<std::chrono::steady_clock::time_point, Arrival> arrivals_;
};

} // namespace kopt::fakes
