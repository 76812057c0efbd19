// SPDX-License-Identifier: Apache-2.0
// Wall time behind an interface, so that budgets can be tested without waiting.
#pragma once

#include <chrono>
#include <string>

namespace kopt {

using Duration = std::chrono::duration<double>; ///< seconds

class Clock {
public:
  virtual ~Clock() = default;
  virtual std::chrono::steady_clock::time_point now() const = 0;
  virtual void sleep(Duration seconds) = 0;
  /// UTC, "2026-01-31T12:00:00Z": for display, never for arithmetic.
  virtual std::string utc() const = 0;
};

Clock &systemClock();

} // namespace kopt
