// SPDX-License-Identifier: Apache-2.0
// Launches that nobody declared, made from those that somebody did: other scalars, sizes, contents
// and addresses. A kernel that is right on the declared launches alone is wrong on one of these.
#pragma once

#include "driver/workload/WorkloadBuilder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What a derived launch changes.
enum class Derivation { Scalars, Sizes, Contents, Alignment };

struct DerivedLaunch {
  Derivation kind = Derivation::Scalars;
  std::string title;      ///< "n + 1", "values: sorted"
  Launch launch;          ///< of the baseline; its weight means nothing
  bool nonFinite = false; ///< its inputs contain infinities and NaNs; with other inputs the
                          ///< original produces none
  /// Not declared by the user: a candidate that cannot run on it only narrows what callers may
  /// pass; one that runs must be right.
  bool advisory = false;
  /// May violate a precondition of the original (a counter that must start at 0). Used only if the
  /// original's result does not depend on its thread order here.
  bool maybeConditional = false;
  bool large = false; ///< more elements than 16 bits can number: it takes long
  bool cancelling =
      false; ///< neighbours cancel: the original's order may give no rounding error at all
  /// Any order of operations has large errors here, and wrong ways far larger ones: a share of the
  /// outputs' magnitude is allowed.
  bool isCoarse = false;
  /// Numbers far from all that there are, between which arithmetic overflows or underflows in some
  /// orders and not in others: where somebody said what inputs are like, a candidate that fails on
  /// them is told so.
  bool isExtreme = false;
  /// Undeclared integers, which the original may use as indices: only for a device that checks
  /// bounds.
  bool unbounded = false;
  bool asLaunched = false; ///< the program itself launches the kernel in this way
  /// The whole problem of a captured launch, so small that the emulated device has time for it.
  bool isSmall = false;
  /// The first blocks of a captured launch's grid alone. Another kernel's first blocks may have
  /// other work: what they leave is not compared.
  bool isPart = false;
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

/// What launches are derived from. Of captured launches the declaration's requirements and fills
/// count; where there are none it may be null.
struct DerivationSource {
  const KernelSpec &kernel;
  const Specialization &specialization;
  const TuneDeclaration *declaration = nullptr;
};

/// Whether the launch is one of a program that was observed.
bool isCaptured(const Launch &launch);

/// All that can be derived from one launch, the same each time. Sizes are small: the integers that
/// decide geometry or extents are halved until threads and elements are at most `most` (what takes
/// more is missing), but for one that has more elements than 16 bits number where the launch itself
/// has not, and that costs at most 16 times as much. Floating-point scalars are multiplied (0 is
/// replaced, so that a term that it switches off comes back), other integers moved by one, contents
/// drawn differently: integers within their declared fill, as they may be indices, and without
/// limits where no fill is declared (`unbounded`); zeros are replaced. Other launch sites of the
/// specialization are launched with the same small sizes. Sizes keep the requirements: where they
/// are multiples of 4 all derived ones are. A captured launch is derived from as
/// CapturedLaunches.h says.
DerivedLaunches deriveLaunches(const DerivationSource &source, const Launch &launch,
                               std::uint64_t most);

/// Another value for every floating-point scalar and every integer that decides no size, drawn from
/// `seed`. Nothing where there is none. `launch` is a declared launch or one derived from it by
/// scalars or sizes.
std::optional<DerivedLaunch> drawScalars(const DerivationSource &source, const Launch &launch,
                                         std::uint64_t seed);

/// Another size in each dimension, between half of what `launch` has and a quarter more (of a
/// captured launch: no more), drawn from `seed`. Nothing where no argument decides a size.
std::optional<DerivedLaunch> drawSizes(const DerivationSource &source, const Launch &launch,
                                       std::uint64_t seed);

/// Threads and elements of a launch: what running it costs, roughly.
std::uint64_t costOf(const Launch &launch);
/// Of all its buffers.
std::uint64_t memoryOf(const Launch &launch);

const char *toString(Derivation kind);

} // namespace kopt
