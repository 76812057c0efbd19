// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Clock.h"

#include <ctime>
#include <thread>

namespace kopt {
namespace {

class SystemClock final : public Clock {
public:
  std::chrono::steady_clock::time_point now() const override {
    return std::chrono::steady_clock::now();
  }
  void sleep(std::chrono::duration<double> seconds) override {
    std::this_thread::sleep_for(seconds);
  }
  std::string utc() const override {
    std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
  }
};

} // namespace

Clock &systemClock() {
  static SystemClock clock;
  return clock;
}

} // namespace kopt
