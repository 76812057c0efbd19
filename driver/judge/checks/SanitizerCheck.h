// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compute-sanitizer over a small launch on a GPU: what no comparison of results can show.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"

namespace kopt {

/// Tools by what the candidate uses: memcheck and initcheck always, racecheck with shared memory,
/// synccheck with barriers. One that finds something in the original too is no test of a candidate.
/// Takes seconds of the GPU, so it is asked at Depth::Win, and at Depth::Trial where the emulated
/// device can say nothing. Emulated launches are checked by the device itself: there it does not
/// run, and says so.
std::unique_ptr<Check> makeSanitizerCheck(std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
