// SPDX-License-Identifier: Apache-2.0
// The counters that explain how fast a kernel is, with labels.
#pragma once

#include "driver/model/Counters.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

/// The known counters of one launch as label and value: "achieved occupancy", "84.79%". Counters
/// without a label here, and classes of instructions that do not occur in the code, are left out.
std::vector<std::pair<std::string, std::string>> describeCounters(const Counters &counters);

/// "achieved occupancy" for a counter with a label here; otherwise the name itself.
std::string labelOfCounter(const std::string &name);
/// The counter that has the label, in a table as models and people see it; otherwise the text
/// itself, which may be a counter's name.
std::string counterOfLabel(const std::string &label);
/// The value with its unit; "unknown" if there is none.
std::string textOfCounter(const std::string &name, std::optional<double> value);

} // namespace kopt
