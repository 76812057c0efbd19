// SPDX-License-Identifier: Apache-2.0
// A launch that is derived from one of the workload.
#pragma once

#include "driver/model/CheckList.h"
#include "driver/model/Workload.h"
#include "driver/workload/OtherScalars.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What a derived launch changes: Scalars, Sizes, Contents or Alignment, as the check that replays
/// it.
using Derivation = CheckId;

/// What matters of a launch's contents, besides what they are.
struct ContentTraits {
  bool nonFinite = false; ///< its inputs contain infinities and NaNs; with other inputs the
                          ///< original produces none
  /// May violate a precondition of the original (a counter that must start at 0). Used only if the
  /// original's result does not depend on its thread order here.
  bool maybeConditional = false;
  bool cancelling = false; ///< neighbouring terms cancel, so the original's order may give no
                           ///< rounding error at all
  /// Every order of operations has large errors here, and wrong results far larger ones. So an
  /// error of a share of the outputs' magnitude is allowed.
  bool isCoarse = false;
  /// Numbers far from the declared or captured ones, with which arithmetic overflows or underflows
  /// in some orders and not in others. If a `fill` clause or a capture says what inputs are like, a
  /// failure on them is reported as a gap and does not refuse the candidate.
  bool isExtreme = false;
  /// Undeclared integers have arbitrary values, and the original may use them as indices: only for
  /// a device that checks bounds.
  bool unbounded = false;
};

struct DerivedLaunch : ContentTraits {
  Derivation kind = Derivation::Scalars;
  std::string title; ///< "n = 255", "contents: sorted"
  Launch launch;     ///< the baseline's launch; its weight is unused
  /// Valid only if the original has the same results where the two buffers are apart: then the
  /// kernel may be used in place.
  struct InPlace {
    std::size_t both;   ///< index of the input that is the output, too
    std::size_t output; ///< index of the output in `apart`
    Launch apart;       ///< the same launch with two buffers
  };
  std::optional<InPlace> inPlace{};
  bool large = false;      ///< has more elements than 16 bits can number, so it is slow
  bool asLaunched = false; ///< the program itself launches the kernel in this way
  /// A whole problem like that of a captured launch, small enough for the emulated device.
  bool isSmall = false;
  /// Only the first blocks of the launch's grid. A candidate's first blocks may have other work, so
  /// their results are not compared; races between their threads are found on the emulated device.
  bool isPart = false;
  /// Why the program makes no such launch (ProgramLaunches::whyNot()): a candidate that fails on it
  /// rests on that. Empty if it may make it.
  std::string beyond{};
};

/// A launch that could not be made, and why.
struct NotDerived {
  Derivation kind = Derivation::Scalars;
  std::string title, why;
  bool asLaunched = false; ///< the program itself launches the kernel in this way, so the report
                           ///< must say that it was not tried
};

struct DerivedLaunches {
  std::vector<DerivedLaunch> launches;
  std::vector<NotDerived> missing;
};

/// `made`, named after the launch that it is derived from.
DerivedLaunch derivedFrom(const Launch &from, Derivation kind, std::string title, Launch made);

/// The number of threads or of elements of a launch, whichever is larger: a rough measure of its
/// cost.
std::uint64_t costOf(const Launch &launch);
/// Bytes of all buffers of a launch.
std::uint64_t memoryOf(const Launch &launch);

/// The launch with only the first blocks of its grid, as a rectangle of at most `blocks`. Nothing
/// if it has no more than that, or if its blocks wait for each other.
std::optional<Launch> withFirstBlocks(Launch launch, std::uint64_t blocks);

/// The launch with each captured buffer cut to this share of its bytes, and at least `least`, after
/// the last place where an argument points into it: for a smaller problem, or a device that copies
/// slowly.
Launch withLessMemory(Launch launch, std::uint64_t least, double share = 0);

} // namespace kopt
