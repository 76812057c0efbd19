// SPDX-License-Identifier: Apache-2.0
// Which lines make warps wait. A profiler finds a warp at the instruction that waits; the one to
// blame is the instruction whose result it waits for.
#pragma once

#include "driver/device/sass/SassClass.h"
#include "driver/model/Device.h"

namespace kopt {

struct StallSlice {
  SourceFrame blamed;                ///< the line of the instruction that is waited for
  SassClass kind = SassClass::Other; ///< of that instruction
  SourceFrame waiting;               ///< the line that most of the samples were taken at
  double samples = 0;                ///< of warps that were found waiting for it
  double share = 0;                  ///< of all samples of the kernel
};

/// The samples of a kernel by the lines that are to blame, most first. The result that an
/// instruction waits for is found backwards along all paths: the nearest instructions that write
/// its registers and take an unknown time (loads, special functions, shuffles, atomics). The
/// slowest of them is blamed; without one, the instruction itself. Empty without samples.
std::vector<StallSlice> stallSlices(const SassListing &listing, std::string_view symbol,
                                    const InstructionCounts &counts);

/// "38% of the samples wait for a global load at a.cu:12, at a.cu:14"
std::string inWords(const StallSlice &slice);

} // namespace kopt
