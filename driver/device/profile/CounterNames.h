// SPDX-License-Identifier: Apache-2.0
// Which counters of a GPU kopt reads: what the rules need, and what a person wants to see as well.
// Nsight Compute's names.
#pragma once

#include <string>
#include <vector>

namespace kopt {

/// What the hardware counts: CUPTI's range profiler and ncu both give them.
const std::vector<std::string> &hardwareCounters();

/// What is known of a launch without counting, under the names that ncu gives it.
const std::vector<std::string> &launchCounters();

} // namespace kopt
