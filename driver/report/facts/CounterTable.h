// SPDX-License-Identifier: Apache-2.0
// The counters that explain a speedup, in words, before and after.
#pragma once

#include "driver/model/Trial.h"

#include <string>
#include <utility>
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

/// What is known of one launch, in words with its value: "achieved occupancy", "84.79%". Counters
/// that have no words here, and classes of instructions that the code has none of, are left out.
std::vector<std::pair<std::string, std::string>> describeCounters(const Counters &counters);

} // namespace kopt
