// SPDX-License-Identifier: Apache-2.0
// The counters of a GPU that kopt reads, for the rules and for the user, under Nsight Compute's
// names.
#pragma once

#include <string>
#include <vector>

namespace kopt {

/// Hardware counters, available from both CUPTI's range profiler and ncu.
const std::vector<std::string> &hardwareCounters();

/// Facts about a launch that need no counting, under ncu's names.
const std::vector<std::string> &launchCounters();

} // namespace kopt
