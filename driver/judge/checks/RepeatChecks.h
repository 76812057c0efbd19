// SPDX-License-Identifier: Apache-2.0
// Checks that run the same launch again and again: a kernel's results must not depend on what
// memory held before, or on the order of its threads.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"

namespace kopt {

/// Launches a candidate ten or more times (fewer if a launch is slow on a GPU), alternating between
/// two inputs, each time with other poison and at other addresses, sometimes in a freshly loaded
/// module. If the original gives the same bits each time, a candidate has to; otherwise its results
/// may spread as the original's do.
std::unique_ptr<Check> makeRepeatCheck(std::shared_ptr<DerivedReplays> replays);

/// The emulated device runs blocks, warps and lanes in other orders, and may switch threads between
/// any two instructions. The order cannot be chosen on a GPU, so the check does not run there;
/// winners run on the emulated device instead (EmulationGate).
std::unique_ptr<Check> makeScheduleCheck(std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
