// SPDX-License-Identifier: Apache-2.0
// Measures where the time of a request goes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace kopt::runtime {

/// Seconds on a clock that only moves forward; tests bring their own.
using SecondsClock = std::function<double()>;

/// Seconds by stage. A stage within another stops the clock of the outer one, so that the sum is
/// the time of the request.
class Stages {
public:
  explicit Stages(const SecondsClock &clock) : clock_(clock), since_(clock()) {}

  class Scope {
  public:
    Scope(Stages &stages, const char *name) : stages_(stages), outer_(stages.enter(name)) {}
    ~Scope() { stages_.enter(outer_); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Stages &stages_;
    const char *outer_;
  };

  const std::map<std::string, double> &seconds() const { return seconds_; }
  /// Begins anew.
  void clear() { seconds_.clear(); }

private:
  /// Returns the stage that was current before; null: none.
  const char *enter(const char *name) {
    const double now = clock_();
    if (current_)
      seconds_[current_] += now - since_;
    since_ = now;
    return std::exchange(current_, name);
  }

  const SecondsClock &clock_;
  double since_;
  const char *current_ = nullptr;
  std::map<std::string, double> seconds_;
};

} // namespace kopt::runtime
