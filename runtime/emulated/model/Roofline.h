// SPDX-License-Identifier: Apache-2.0
// The time of a launch on the modelled GPU, and its counters under Nsight Compute's names.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/emulated/model/GpuSpec.h"
#include "runtime/emulated/model/WarpTrace.h"

namespace kopt::runtime::emulated {

struct LaunchShape {
  double blocks = 0, threadsPerBlock = 0, sharedPerBlock = 0;
};

/// The number of blocks that fit on a multiprocessor by threads, blocks and shared memory, at least
/// 1. Registers are not known here.
double residentBlocks(const GpuSpec &gpu, const LaunchShape &shape);

/// One resource and the time that it alone would need, in seconds.
struct RooflineTerm {
  const char *name;
  double seconds;
};
struct RooflineTime {
  double seconds = 0; ///< of the launch, its latency included
  std::vector<RooflineTerm> terms;
  double dramSeconds = 0, computeSeconds = 0;
};

RooflineTime rooflineTime(const GpuSpec &gpu, const LaunchShape &shape, const LaunchCounts &counts);

Counters makeCounters(const GpuSpec &gpu, const LaunchShape &shape, const LaunchCounts &counts,
                      const RooflineTime &time);

} // namespace kopt::runtime::emulated
