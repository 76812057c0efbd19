// SPDX-License-Identifier: Apache-2.0
// Launches of one kernel that do the same: which launch represents them, and their weight.
#pragma once

#include "driver/workload/observed/TraceFolder.h"

#include <array>
#include <functional>
#include <optional>

namespace kopt {

/// One launch of a trace.
struct LaunchRef {
  std::size_t process = 0, launch = 0; ///< indices into ObservedTrace and ProcessTrace
  double seconds = -1;                 ///< below 0: not known
};

/// Launches of equal geometry (all of grid, block and dynamic shared memory) and equal scalar
/// arguments.
struct LaunchClass {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  std::string scalars;             ///< the arguments' bytes, addresses and what varies set to zero
  bool slow = false, fast = false; ///< a part of a class whose times fall in two
  std::vector<LaunchRef> launches; ///< in order
  double seconds = 0;              ///< of all of them; unknown ones count as the mean of the known
  /// "grid 8 block 128", "grid 8x4 block 32x4 shared 1024, slow"
  std::string describe() const;
};

struct KernelUse {
  std::string symbol;
  std::uint64_t launches = 0, timed = 0;
  double seconds = 0;               ///< as LaunchClass::seconds
  double share = 0;                 ///< of the seconds of all kernels
  std::vector<LaunchClass> classes; ///< the longest first
  bool scalarsVary = false; ///< too many different scalars: the classes are of geometry alone
};

/// A class is split in two where its 95th percentile is over this many times its 25th: the research
/// behind it found that what differs then is the work, not the noise.
inline constexpr double kSplitRatio = 2.5;
/// Scalars that make more classes than this vary with each launch: they do not tell kinds of
/// launches apart.
inline constexpr std::size_t kMostClasses = 32;

/// Kinds of launches of a kernel that its workload has at most.
inline constexpr std::size_t kKindsOfLaunches = 5;

/// All kernels of a trace, the one with the most time first.
std::vector<KernelUse> rankKernels(const ObservedTrace &trace);

/// The launches that represent a kernel.
/// Of a kernel's time that its chosen classes of launches should have.
inline constexpr double kCoverage = 0.9;

struct Representative {
  std::size_t index = 0;            ///< of the class in KernelUse::classes
  LaunchRef launch;                 ///< whose time is nearest to the class's median
  std::optional<LaunchRef> heldOut; ///< another one of the class, for the final validation
  double weight = 0;                ///< the class's share of the chosen classes' seconds
};

struct Selection {
  std::vector<Representative> chosen;
  double coverage = 0; ///< of the kernel's seconds
};

/// The longest classes that together have `coverage` of the kernel's time, at most `most`. `usable`
/// says which launches may represent others; a class without one is left out.
Selection chooseRepresentatives(const KernelUse &kernel, std::size_t most, double coverage,
                                const std::function<bool(const LaunchRef &)> &usable);

} // namespace kopt
