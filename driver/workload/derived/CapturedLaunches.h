// SPDX-License-Identifier: Apache-2.0
// Launches derived from a captured launch, at its size and on its own memory.
#pragma once

#include "driver/workload/derived/DerivedLaunch.h"
#include "driver/workload/derived/DerivedLaunches.h"
#include "driver/workload/derived/DrawnLaunches.h"

namespace kopt {

/// Derives launches of each kind, the most telling first:
/// - contents: constant numbers (above all zeros) are replaced; all numbers are drawn anew with the
///   same range and kind; floating-point numbers are multiplied and divided by 1000, drawn with
///   the other sign if all have one, and get the contents of DerivedContents.h. Integers keep their
///   range, as they may be indices (characters do not), sorted ones get uneven steps, and buffers
///   with addresses stay as they are.
/// - sizes: all integers of 8 and more become one and three less, three quarters, and 1; each alone
///   becomes one less, and 0 if it decides the grid. If the grid follows them, all of them, and
///   each value alone, also become twice as large, and each value, and all that do not decide the
///   grid, up to 16 times, in larger memory (CapturedNumbers::larger()), also with the greatest
///   integers in it. Equal integers stay equal, and integers that are a block or grid
///   extent stay as they are.
/// - scalars: floating-point scalars change as in deriveLaunches(); integers that are not sizes
///   become smaller, 16 times as great (where the device checks bounds), or one of the values that
///   the kernel compares them with.
/// - alignment: pointers begin 256 bytes and one element further.
/// The grid follows the launch site's expressions if those gave the captured grid; otherwise it
/// stays. Also derives small launches: with smaller sizes, of at most `most` threads, if the grid
/// follows them, and one that is a part of the grid.
DerivedLaunches deriveCaptured(const DerivationSource &source, const Launch &launch,
                               std::uint64_t most);

/// A captured launch with another value of an integer argument; nothing if it has no such argument,
/// or if the value is negative or larger than the captured one.
std::optional<Launch> withCapturedInteger(const DerivationSource &source, const Launch &launch,
                                          const std::string &name, std::int64_t value);

/// The captured launch with other contents like its own: first those that are constant, above all
/// zeros, are replaced. For contents that leave the kernel nothing to do.
std::vector<Launch> withDrawnContents(const DerivationSource &source, const Launch &launch);

} // namespace kopt
