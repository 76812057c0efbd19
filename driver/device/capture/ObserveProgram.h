// SPDX-License-Identifier: Apache-2.0
// Runs a program under the capture library.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/support/Process.h"
#include "driver/workload/observed/SnapshotPlan.h"

#include <functional>
#include <map>

namespace kopt {

/// What observing takes on this machine.
struct CaptureSetup {
  std::filesystem::path library; ///< libkopt-capture.so
  /// Those found, the preferred one first.
  Result<std::vector<std::filesystem::path>> cupti = CudaToolkit::notLookedUp();
  bool hasDriver = false; ///< libcuda.so.1 can be loaded
  std::string driverProblem;
};

/// `programs`: the folder of kopt's executables.
CaptureSetup findCapture(const std::filesystem::path &programs, const CudaToolkit &cuda);

/// Fails with Environment, saying what is missing and what to do, where no program can be observed
/// here.
Status checkCapture(const CaptureSetup &setup);

struct ObserveLimits {
  std::uint64_t snapshotBytes = 0;    ///< of a process; 0: what there is room for
  std::uint64_t launches = 1'000'000; ///< recorded ones of a process
  unsigned depth = 1;                 ///< pointers that are followed within buffers

  /// For a trace in the folder, which need not exist yet. Where no limit is set: half of what its
  /// disk has free, and at most a quarter of this machine's memory.
  std::uint64_t snapshotBytesIn(const std::filesystem::path &folder) const;
};

struct ProgramRun {
  int exitCode = 0; ///< 128 + signal where a signal ended it
  double seconds = 0;
  std::string out, err; ///< what it printed, as far as ProcessSpec keeps it
};

/// Runs the command in the current folder and reads its trace, which it leaves in `folder`. Fails
/// with Usage where the program cannot be started, with BaselineFailed where it failed or launched
/// nothing, with Environment where nothing could be recorded.
Result<ObservedTrace> observeProgram(ProcessRunner &processes, const CaptureSetup &setup,
                                     const std::vector<std::string> &command,
                                     const std::vector<SnapshotOrder> &orders,
                                     const ObserveLimits &limits,
                                     const std::filesystem::path &folder, ProgramRun &run);

} // namespace kopt
