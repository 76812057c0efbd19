// SPDX-License-Identifier: Apache-2.0
// The counters that explain a speedup, with labels and values before and after.
#pragma once

#include "driver/model/Trial.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

struct CounterChange {
  std::string label, before, after; ///< values with units
};

struct CounterComparison {
  std::vector<CounterChange> changed;
  std::vector<std::string> unchanged; ///< "label: value"
};

/// Compares the counters of both trials. A counter that one of them lacks is shown as "unknown",
/// never as zero.
CounterComparison compareCounters(const Trial &before, const Trial &after);

/// The known counters of one launch as label and value: "achieved occupancy", "84.79%". Counters
/// without a label here, and classes of instructions that do not occur in the code, are left out.
std::vector<std::pair<std::string, std::string>> describeCounters(const Counters &counters);

/// "achieved occupancy" for a counter with a label here; otherwise the name itself.
std::string labelOfCounter(const std::string &name);
/// The value with its unit; "unknown" if there is none.
std::string textOfCounter(const std::string &name, std::optional<double> value);

} // namespace kopt
