// SPDX-License-Identifier: Apache-2.0
// Where pointers point. Finds those into the same memory at a launch site: of kernels that work in
// place, or on parts of one allocation. Also makes such launches for kernels that this program does
// not use so, and launches whose pointers begin further in their allocations.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"

#include <string>
#include <tuple>
#include <vector>

namespace kopt {

struct SharedMemory {
  Launch launch; ///< arguments that point into the same memory share a buffer
  /// Index of an argument, of a later argument that now uses its buffer, and how many bytes later
  /// that one begins.
  std::vector<std::tuple<std::size_t, std::size_t, std::int64_t>> joined;
  std::vector<std::string> unknown; ///< arguments that may share memory, and why that was not tried
  bool overlaps() const;            ///< true if some joined arguments begin at different places
};

/// `base` with its pointers aliased as `site` passes them; `site` may be another launch site of the
/// kernel than the launch's own. Parts of one allocation that do not overlap stay separate.
/// `declared` is the launch that `base` is a smaller version of: arguments that overlap only there
/// are unknown.
SharedMemory shareMemory(const Specialization &specialization, const LaunchSite &site,
                         const Launch &base, const Launch &declared);

/// `launch` with its first input that could be an output, too, as that output: both are of the same
/// type and size, neither promises with `__restrict__` to be apart, no other argument points to
/// them, and the kernel does not read what the output held or both are captured. Nothing if there
/// is no such pair. Of kind Alignment, with inPlace set.
/// `readAcross`: inputs that are not used so.
std::optional<DerivedLaunch> usedInPlace(const Specialization &specialization, const Launch &launch,
                                         const std::set<std::string> &readAcross);

/// The alignment that the language requires of the pointers into each buffer, in bytes. 0: it may
/// not be moved, because other pointers may refer to it, or as the contents of a file begin at the
/// start of the allocation.
std::vector<std::uint64_t> alignments(const Specialization &specialization, const Launch &launch);
/// `launch` with each buffer beginning some bytes further in its allocation. The bytes before it
/// are unused.
Launch shifted(Launch launch, const std::vector<std::uint64_t> &by);

} // namespace kopt
