// SPDX-License-Identifier: Apache-2.0
// Launches of kernels that may work in place although this program does not use them so.
#pragma once

#include "driver/workload/derived/DerivedLaunches.h"

#include <optional>

namespace kopt {

/// `launch` with its first input that could be an output, too, as that output: both are of the same
/// type and size, neither promises with `__restrict__` to be apart, no other argument points to
/// them, and the kernel does not read what the output held or both are captured. Nothing if there
/// is no such pair. Of kind Alignment, with inPlace set.
std::optional<DerivedLaunch> usedInPlace(const Specialization &specialization,
                                         const Launch &launch);

} // namespace kopt
