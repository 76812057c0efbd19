// SPDX-License-Identifier: Apache-2.0
// Larger problems than the declared one: what loops for longer rows and fallbacks need to be
// reached.
#pragma once

#include "driver/workload/derived/DerivedLaunches.h"

namespace kopt {

/// Each size doubled again and again, exactly and plus one, while the others are small; and all
/// sizes together. Of those that cost at most `most` threads and elements and keep the declared
/// requirements, the cheapest first, at most `count`. Empty where no argument decides a size.
std::vector<DerivedLaunch> largerLaunches(const DerivationSource &source, const Launch &launch,
                                          std::uint64_t most, std::size_t count);

} // namespace kopt
