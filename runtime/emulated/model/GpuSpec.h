// SPDX-License-Identifier: Apache-2.0
// The GPU that the emulated device models, from knowledge/gpus/NAME.txt.
#pragma once

#include <string>

namespace kopt::runtime::emulated {

struct GpuSpec {
  std::string name, arch;
  double multiprocessors = 0;
  double smClockMHz = 0;
  double memoryBytes = 0;
  double dramBytesPerSecond = 0; ///< achievable, not the data sheet's peak
  double l2Bytes = 0;
  double l2BytesPerSecond = 0; ///< from L2 to all multiprocessors
  double l1Bytes = 0;          ///< of one multiprocessor, shared memory included
  double sharedBytesPerMultiprocessor = 0, sharedBytesPerBlock = 0;
  double threadsPerMultiprocessor = 0, blocksPerMultiprocessor = 0;
  /// Thread-level results per clock and multiprocessor.
  double fp32PerClock = 0, fp64PerClock = 0, fp16PerClock = 0, integerPerClock = 0,
         specialPerClock = 0, conversionPerClock = 0;
  double launchSeconds = 0; ///< time of a kernel that does nothing
  double dramLatencyCycles = 0, l2LatencyCycles = 0, l1LatencyCycles = 0, sharedLatencyCycles = 0;

  /// Reads `key value` lines; '#' begins a comment. Every key is required; an unknown key is an
  /// error. False, with the reason in `why`, on failure.
  static bool read(const std::string &path, GpuSpec &out, std::string &why);
};

} // namespace kopt::runtime::emulated
