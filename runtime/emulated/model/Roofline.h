// SPDX-License-Identifier: Apache-2.0
// How long a launch would take on the modelled GPU, and its counters under the names Nsight Compute
// uses.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/emulated/model/GpuSpec.h"
#include "runtime/emulated/model/WarpTrace.h"

namespace kopt::runtime::emulated {

struct LaunchShape {
  double blocks = 0, threadsPerBlock = 0, sharedPerBlock = 0;
};

/// Blocks that fit one multiprocessor, by threads, blocks and shared memory; registers are not
/// known here. At least 1.
double residentBlocks(const GpuSpec &gpu, const LaunchShape &shape);

/// One resource and the time it alone would need, in seconds.
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
