// SPDX-License-Identifier: Apache-2.0
// Launches made from one of a program that was observed: at its size, on its own memory.
#pragma once

#include "driver/workload/derived/DerivedLaunches.h"

namespace kopt {

/// For each kind what says most comes first:
/// - contents: numbers that were all the same (zeros above all) replaced, all drawn anew in the
///   range and kind that they had, multiplied by 1000 and divided by it, and what
///   DerivedContents.h has for floating-point numbers; integers keep their range, as they may be
///   indices, and buffers with addresses stay.
/// - sizes: the integers of 8 and more, all together, one and three less, three quarters, and 1;
///   each that decides the grid alone, one less and 0. Where the grid follows them also all of
///   them, and each that decides it, twice as large, in larger memory (CapturedNumbers::larger()).
///   Equal ones stay equal, and what stands for a block or a grid stays.
/// - scalars: floating-point ones as deriveLaunches() has them; smaller integers less; the modes
///   that the kernel compares them with.
/// - alignment: pointers 256 bytes and one element further.
/// The grid follows the launch site's expression where that gave the captured one; else it stays.
/// Last come launches of at most `most` threads: of smaller sizes where the grid follows them, and
/// of a part of the grid.
DerivedLaunches deriveCaptured(const DerivationSource &source, const Launch &launch,
                               std::uint64_t most);

/// drawSizes() for such a launch: between three quarters of each size and all of it.
std::optional<DerivedLaunch> drawCapturedSizes(const DerivationSource &source, const Launch &launch,
                                               std::uint64_t seed);

/// Such a launch with another value of an integer argument; nothing where it has none of that name,
/// or the value is negative or more than it was captured with.
std::optional<Launch> withCapturedInteger(const DerivationSource &source, const Launch &launch,
                                          const std::string &name, std::int64_t value);

/// The launch with no more of each captured buffer than `bytes` after the last place where an
/// argument points into it: for a device that makes copies slowly.
Launch withLessMemory(Launch launch, std::uint64_t bytes);

} // namespace kopt
