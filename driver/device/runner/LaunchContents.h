// SPDX-License-Identifier: Apache-2.0
// Opens the files that a launch needs, for a runner that may not open files.
#pragma once

#include "driver/model/Workload.h"
#include "driver/support/Process.h"
#include "driver/support/Result.h"

#include <vector>

namespace kopt {

/// A list of descriptors: those of the caller, and then the files that buffers of launches are
/// filled from, in order. Closes the files that it opened; the caller's descriptors must outlive
/// it.
class LaunchContents {
public:
  explicit LaunchContents(std::vector<int> others)
      : all_(std::move(others)), others_(all_.size()) {}
  ~LaunchContents();
  LaunchContents(const LaunchContents &) = delete;
  LaunchContents &operator=(const LaunchContents &) = delete;

  /// Fails with StaleInput if a file cannot be read.
  Status addContents(const Launch &launch);
  const std::vector<int> &all() const { return all_; }

private:
  std::vector<int> all_;
  std::size_t others_;
};

/// The time that a slow machine needs to draw, copy, compare and dump the buffers of a launch.
Duration bufferTime(const Launch &launch);

} // namespace kopt
