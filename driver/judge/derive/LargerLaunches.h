// SPDX-License-Identifier: Apache-2.0
// Larger problems than the declared one, to reach fallbacks and loops for longer rows.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"

namespace kopt {

/// Launches with each size doubled again and again, exactly and plus one, while the others are
/// small, and with all sizes together. Returns at most `count` that cost at most `most` threads and
/// elements and keep the declared requirements, the cheapest first. Empty if no argument decides a
/// size.
std::vector<DerivedLaunch> largerLaunches(const DerivationSource &source, const Launch &launch,
                                          std::uint64_t most, std::size_t count);

} // namespace kopt
