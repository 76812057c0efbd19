// SPDX-License-Identifier: Apache-2.0
// The same launch over and over: what a kernel leaves must not depend on what was there before, or
// on who comes first.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"

namespace kopt {

/// At least ten launches by turns on two inputs, each on other poison and at other addresses, some
/// in a freshly loaded module. Where the original gives the same bits each time a candidate has to;
/// else its results may spread as the original's do.
std::unique_ptr<Check> makeRepeatCheck(std::shared_ptr<DerivedReplays> replays);

/// The emulated device runs blocks, warps and lanes in other orders and hands over between any two
/// instructions. On a GPU nobody can choose: the check does not run there, and the emulated device
/// is asked about winners (EmulationGate).
std::unique_ptr<Check> makeScheduleCheck(std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
