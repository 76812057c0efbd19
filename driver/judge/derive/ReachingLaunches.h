// SPDX-License-Identifier: Apache-2.0
// Launches for an outcome of a condition that no other launch brought about, with the numbers that
// the condition names.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"

namespace kopt {

/// What decides a condition.
struct Deciding {
  std::vector<double> numbers;       ///< the most telling first
  std::vector<std::uint32_t> params; ///< parameters of the kernel, by position
  bool blocks = false;               ///< true if it depends on the number of blocks
  bool data = false;                 ///< true if it depends on the contents of memory
};

/// Launches that may bring the outcome about, at most `count`, the likeliest first. The integers
/// that decide it become the numbers that they are compared with, one more and one less, and the
/// sums, differences and products of two such numbers. Sizes are as small as possible; launches
/// that cost more than `most` threads and elements are left out. If contents decide it, inputs hold
/// the number, and numbers below and above it; integers stay within their declared fill. Launches
/// that break a `require` clause are left out. No integer of a captured launch becomes larger.
std::vector<DerivedLaunch> reachingLaunches(const DerivationSource &source, const Launch &launch,
                                            const Deciding &outcome, std::uint64_t most,
                                            std::size_t count);

} // namespace kopt
