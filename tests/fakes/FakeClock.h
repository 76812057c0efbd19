// SPDX-License-Identifier: Apache-2.0
// Time that passes only when it is told to, or when somebody sleeps.
#pragma once

#include "driver/support/Clock.h"

namespace kopt::fakes {

class FakeClock final : public Clock {
public:
  std::chrono::steady_clock::time_point now() const override {
    return std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(elapsed_));
  }
  void sleep(std::chrono::duration<double> seconds) override {
    slept += seconds.count();
    advance(seconds.count());
  }
  std::string utc() const override { return utcText; }
  void advance(double seconds) { elapsed_ += std::chrono::duration<double>(seconds); }

  std::string utcText = "2026-01-31T12:00:00Z";
  double slept = 0; ///< seconds, all sleeps together

private:
  std::chrono::duration<double> elapsed_{0};
};

} // namespace kopt::fakes
