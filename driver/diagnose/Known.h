// SPDX-License-Identifier: Apache-2.0
// What stands beside the counters of a launch: what it has to move, and what its device reaches.
#pragma once

#include "clang_plugin/output/ModelText.h"
#include "driver/model/Counters.h"
#include "driver/model/Device.h"

namespace kopt {

/// "known__buffer_bytes": the bytes of the launch's buffers that have to be moved, once to be read
/// and once to be written. A buffer of which it is not known whether it is read or written counts
/// for both. Only if it is known of all: "known__written_bytes", and "known__temporary_bytes", of
/// the buffers that are read although nothing depends on what they held before.
Counters knownOf(const Launch &launch, const Specialization &kernel,
                 const std::optional<ParameterUses> &uses);

/// "known__l2_bytes", and "measured__…": rates a second of this GPU, as far as they were measured.
Counters knownOf(const DeviceInfo &device, const MeasuredRates &rates);

} // namespace kopt
