// SPDX-License-Identifier: Apache-2.0
// How long to wait for a program that has been seen to take a certain time.
#pragma once

#include "driver/support/Process.h"

#include <algorithm>
#include <atomic>

namespace kopt {

/// A deadline that follows from the longest time that was seen: `factor` times as long, between a
/// least and a most. Before anything was seen it is the most. May be used from several threads.
class RelativeDeadline {
public:
  RelativeDeadline(Duration least, Duration most, double factor)
      : least_(least), most_(most), factor_(factor) {}

  Duration now() const {
    const double seen = longest_;
    return seen > 0 ? std::clamp(Duration(seen * factor_), least_, most_) : most_;
  }
  void took(Duration wall) {
    double known = longest_;
    while (wall.count() > known && !longest_.compare_exchange_weak(known, wall.count())) {
    }
  }

private:
  Duration least_, most_;
  double factor_;
  std::atomic<double> longest_{0}; ///< seconds
};

} // namespace kopt
