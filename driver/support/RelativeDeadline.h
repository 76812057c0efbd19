// SPDX-License-Identifier: Apache-2.0
// A time limit for a program whose usual time is known.
#pragma once

#include "driver/support/Process.h"

#include <algorithm>
#include <atomic>

namespace kopt {

/// A deadline of `factor` times the longest time seen so far, but at least `least` and at most
/// `most`; `most` before any time was seen. May be used by several threads at once.
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
