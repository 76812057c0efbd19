// SPDX-License-Identifier: Apache-2.0
// Launches that are derived from the workload's launches: other scalars, sizes, contents and
// addresses. A kernel that is right only on the workload fails on one of these.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"

#include <cstdint>
#include <vector>

namespace kopt {

/// Derives all launches from one launch; deterministic. Sizes are small: the integers that decide
/// geometry or extents are halved until the launch has at most `most` threads and elements, or, if
/// its grid is fixed, as few as can be. A few launches have more elements than 16 bits can
/// number if the launch itself has not, and cost at most 16 times as much. Floating-point scalars
/// are multiplied (0 is replaced, so that a term that it switches off comes back), and other
/// integers change by one. Contents are drawn differently: integers within their declared fill, as
/// they may be indices, or without limits if no fill is declared (`unbounded`); zeros are replaced.
/// Other launch sites of the specialization are launched with the same sizes. Sizes keep the
/// requirements: if they require multiples of 4, all derived sizes are.
///
/// Launches derived from a captured one have its size and its memory, or larger memory, as far as
/// it is known how that grows:
/// - contents: constant numbers (above all zeros) are replaced; all numbers are drawn anew with the
///   same range and kind; the others are those of DerivedContents.h.
/// - sizes: integers of 8 and more, and those that decide the grid, become smaller or larger; equal
///   integers stay equal, and integers that are a block or grid extent stay as they are. Some
///   launches are small: with smaller sizes, of at most `most` threads, if the grid follows them,
///   and one that is a part of the grid.
/// - scalars: integers that are not sizes become smaller, 16 times as great (where the device
/// checks
///   bounds), or one of the values that the kernel compares them with.
DerivedLaunches deriveLaunches(const DerivationSource &source, const Launch &launch,
                               std::uint64_t most);

/// The captured launch with other contents like its own: first those that are constant, above all
/// zeros, are replaced. For contents that leave the kernel nothing to do.
std::vector<Launch> withDrawnContents(const DerivationSource &source, const Launch &launch);

/// The launches in the order: the first of each kind, then the second of each, and so on; parts of
/// a grid last.
std::vector<DerivedLaunch> inTurn(std::vector<DerivedLaunch> launches);
/// The first launch of each kind that a device without bounds checks can run.
std::vector<DerivedLaunch> firstOfEach(std::vector<DerivedLaunch> launches);

} // namespace kopt
