// SPDX-License-Identifier: Apache-2.0
// Groups launches of one kernel that do the same work, and chooses launches that represent them.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/workload/observed/TraceFolder.h"

#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace kopt {

/// One launch of a trace.
struct LaunchRef {
  std::size_t process = 0, launch = 0; ///< indices into ObservedTrace and ProcessTrace
  double seconds = -1;                 ///< below 0: unknown
  std::pair<std::size_t, std::size_t> place() const { return {process, launch}; }
};

/// Launches with equal geometry (grid, block and dynamic shared memory) and equal scalar arguments.
struct LaunchClass {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  std::string scalars; ///< the arguments' bytes, with addresses set to zero; empty if scalars vary
  bool slow = false, fast = false; ///< part of a class that was split by time
  /// How many classes were merged into this one; then geometry and scalars are those of one of
  /// them.
  std::size_t merged = 1;
  std::vector<LaunchRef> launches; ///< in order
  double seconds = 0;              ///< total; unknown times count as the mean of the known ones
  /// "grid 8 block 128", "grid 8x4 block 32x4 shared 1024, slow"
  std::string describe() const;
};

/// A kernel's share of a program's launches and time.
struct KernelShare {
  std::string symbol;
  std::uint64_t launches = 0;
  double seconds = 0; ///< as LaunchClass::seconds
  double share = 0;   ///< of the seconds of all kernels; see also sharesOf()
};
KOPT_FIELDS(KernelShare, symbol, launches, seconds, share)

struct KernelUse : KernelShare {
  std::uint64_t timed = 0;          ///< launches of known time
  std::vector<LaunchClass> classes; ///< the longest first
  bool scalarsVary = false; ///< too many different scalars, so the classes are by geometry alone
};

/// A class is split in two if its 95th percentile is more than this many times its 25th: the
/// research behind this ratio found that such differences come from the work, not from noise.
inline constexpr double kSplitRatio = 2.5;
/// If scalars make more classes than this, they vary from launch to launch and do not distinguish
/// classes.
inline constexpr std::size_t kMostClasses = 32;

/// The most classes of launches of a kernel in its workload.
inline constexpr std::size_t kKindsOfLaunches = 5;
/// If those of the most time have less than this share of the kernel's, as in a program that
/// launches it with hundreds of sizes, all launches are put into kKindsOfLaunches classes by their
/// times, each with about the same total.
inline constexpr double kLeastCoverage = 0.5;

/// All kernels of a trace, the one with the most time first.
std::vector<KernelUse> rankKernels(const ObservedTrace &trace);

/// The share of a kernel's time that its chosen classes should have.
inline constexpr double kCoverage = 0.9;

struct Representative {
  std::size_t index = 0;            ///< index of the class in KernelUse::classes
  LaunchRef launch;                 ///< the launch whose time is nearest to the class's median
  std::optional<LaunchRef> heldOut; ///< another one of the class, for the final validation
  double weight = 0;                ///< the class's share of the chosen classes' seconds
};

struct Selection {
  std::vector<Representative> chosen;
  double coverage = 0; ///< share of the kernel's seconds
};

/// The classes with the most time that together have `coverage` of the kernel's time, at most
/// `most`. `usable` says which launches may represent others; a class without a usable launch is
/// left out.
Selection chooseRepresentatives(const KernelUse &kernel, std::size_t most, double coverage,
                                const std::function<bool(const LaunchRef &)> &usable);

} // namespace kopt
