// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compute-sanitizer over a small launch on a GPU: what no comparison of results can show.
#pragma once

#include "driver/gates/DerivedReplays.h"

namespace kopt {

/// Tools by what the candidate uses: memcheck and initcheck always, racecheck with shared memory, synccheck with barriers. One
/// that finds something in the original too is no test of a candidate. Takes seconds, so it is asked of winners and of what
/// screening flagged alone. Emulated launches are checked by the device itself: there it does not run, and says so.
std::unique_ptr<Gate> makeSanitizerGate(std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
