// SPDX-License-Identifier: Apache-2.0
// Launches for one way through a kernel that no other launch took: with the numbers that the
// condition names.
#pragma once

#include "driver/workload/derived/DerivedLaunches.h"

namespace kopt {

/// What decides a condition.
struct Deciding {
  std::vector<double> numbers;       ///< those that say most come first
  std::vector<std::uint32_t> params; ///< of the kernel, by their position
  bool blocks = false;               ///< the number of blocks
  bool data = false;                 ///< contents of memory
};

/// Launches that may bring the outcome about, at most `count`, those that most likely do first.
/// The integers that decide it are what it is compared with, one more and one less, and the sums,
/// differences and products of two such numbers; sizes are as small as possible, and a launch that
/// costs more than `most` threads and elements is left out. Where contents decide it, the inputs
/// hold the number, and others below and above it; integers stay within their declared fill. What
/// a `require` clause rules out is left out. Of a captured launch no integer becomes larger.
std::vector<DerivedLaunch> reachingLaunches(const DerivationSource &source, const Launch &launch,
                                            const Deciding &outcome, std::uint64_t most,
                                            std::size_t count);

} // namespace kopt
