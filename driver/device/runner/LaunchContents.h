// SPDX-License-Identifier: Apache-2.0
// The files that a launch needs, opened for a runner that may open none itself.
#pragma once

#include "driver/model/Workload.h"
#include "driver/support/Process.h"
#include "driver/support/Result.h"

#include <vector>

namespace kopt {

/// Opens the files that buffers of launches are filled from, in order, after the descriptors that
/// are there. Closes what it opened; the other descriptors belong to the caller and must outlive
/// it.
class LaunchContents {
public:
  explicit LaunchContents(std::vector<int> others)
      : all_(std::move(others)), others_(all_.size()) {}
  ~LaunchContents();
  LaunchContents(const LaunchContents &) = delete;
  LaunchContents &operator=(const LaunchContents &) = delete;

  /// Fails with StaleInput where one cannot be read.
  Status addContents(const Launch &launch);
  const std::vector<int> &all() const { return all_; }

private:
  std::vector<int> all_;
  std::size_t others_;
};

/// How long a slow machine takes to draw, copy, compare and dump the buffers of a launch.
Duration bufferTime(const Launch &launch);

} // namespace kopt
