// SPDX-License-Identifier: Apache-2.0
// Pointers that a launch site passes into the same memory: kernels that work in place, or on parts
// of one allocation.
#pragma once

#include "driver/model/Workload.h"

#include <string>
#include <tuple>
#include <vector>

namespace kopt {

struct SharedMemory {
  Launch launch; ///< with one buffer for arguments that point into the same memory
  /// Arguments that were put into the buffer of an earlier one, and how many bytes they begin after
  /// that.
  std::vector<std::tuple<std::size_t, std::size_t, std::int64_t>> joined;
  std::vector<std::string> unknown; ///< which may share memory, and why it was not tried
  bool overlaps() const;            ///< some of those joined do not begin at the same place
};

/// `base` as `site` would have it, which may be another launch site of the kernel than its own.
/// Parts of one allocation that do not overlap stay apart. `declared` is what `base` was made
/// smaller from: what overlaps only there is unknown.
SharedMemory shareMemory(const Specialization &specialization, const LaunchSite &site,
                         const Launch &base, const Launch &declared);

} // namespace kopt
