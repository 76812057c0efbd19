// SPDX-License-Identifier: Apache-2.0
// Runs NVIDIA's compute-sanitizer over a small launch on a GPU: it finds faults that no comparison
// of results can show.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"

namespace kopt {

/// Selects the tools by what the candidate uses: memcheck and initcheck always, racecheck with
/// shared memory, synccheck with barriers. A tool that also finds errors in the original is not a
/// test of a candidate. The check takes seconds of the GPU, so it runs at Depth::Win, and at
/// Depth::Trial only if the emulated device did not pass the candidate. On the emulated device the
/// check is not applicable, because the device checks every launch itself.
std::unique_ptr<Check> makeSanitizerCheck(std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
