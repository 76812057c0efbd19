// SPDX-License-Identifier: Apache-2.0
// Problems with more elements than a signed integer of 32 bits can number.
#pragma once

#include "driver/workload/derived/DerivedLaunches.h"

namespace kopt {

/// The elements that a buffer of such a problem has at least: some blocks of threads more than
/// 2^31.
inline constexpr std::uint64_t kWideElements = (std::uint64_t(1) << 31) + (std::uint64_t(1) << 22);

/// The launch with one of its sizes so large that a buffer has at least kWideElements elements; one
/// launch for each size for which that can be, within the type of its parameter, the user's
/// requirements and what a GPU allows of a grid. They need more memory than there is
/// (RunOptions::repeating).
std::vector<DerivedLaunch> wideIndexLaunches(const DerivationSource &source, const Launch &launch);

} // namespace kopt
