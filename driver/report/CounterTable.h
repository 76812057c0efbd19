// SPDX-License-Identifier: Apache-2.0
// The counters that explain a speedup, in words, before and after.
#pragma once

#include "driver/evaluate/Trial.h"

#include <string>
#include <vector>

namespace kopt {

struct CounterChange {
  std::string label, before, after; ///< as people read them, with units
};

struct CounterComparison {
  std::vector<CounterChange> changed;
  std::vector<std::string> unchanged; ///< "label: value"
};

/// Compares what both trials know. A counter that one of them lacks is shown as changed to
/// "unknown", never as zero.
CounterComparison compareCounters(const Trial &before, const Trial &after);

} // namespace kopt
