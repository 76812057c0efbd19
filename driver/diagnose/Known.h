// SPDX-License-Identifier: Apache-2.0
// What stands beside the counters of a launch: what it has to move, and what its device reaches.
#pragma once

#include "driver/model/Counters.h"
#include "driver/model/Device.h"

namespace kopt {

/// "known__buffer_bytes": the bytes of the launch's buffers, twice those that it may read and
/// write. "measured__…": rates a second of this GPU, as far as they were measured.
Counters knownOf(const Launch &launch, const MeasuredRates &rates);

} // namespace kopt
