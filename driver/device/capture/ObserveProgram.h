// SPDX-License-Identifier: Apache-2.0
// Runs a user's program under the capture library.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/support/Process.h"
#include "driver/workload/observed/SnapshotPlan.h"

namespace kopt {

/// What is needed to observe programs on this machine.
struct CaptureSetup {
  std::filesystem::path library; ///< libkopt-capture.so
  /// The files of libcupti, the preferred one first.
  Result<std::vector<std::filesystem::path>> cupti = CudaToolkit::notLookedUp();
  bool hasDriver = false; ///< libcuda.so.1 can be loaded
  std::string driverProblem;
};

/// `programs` is the folder of kopt's executables.
CaptureSetup findCapture(const std::filesystem::path &programs, const CudaToolkit &cuda);

/// Fails with Environment, saying what is missing and what to do, if programs cannot be observed
/// here.
Status checkCapture(const CaptureSetup &setup);

struct TraceSettings {
  std::uint64_t snapshotBytes = 0;    ///< for one process; 0: as snapshotBytesIn() computes
  std::uint64_t launches = 1'000'000; ///< most launches that are recorded for one process
  bool code = false;                  ///< record a hash of each kernel's machine code
  unsigned depth = 1;                 ///< how many levels of pointers within buffers are followed

  /// The limit for a trace in `folder`, which need not exist yet. If none is set: half of the free
  /// space of its disk, but at most a quarter of the machine's memory.
  std::uint64_t snapshotBytesIn(const std::filesystem::path &folder) const;
};

struct ProgramRun {
  int exitCode = 0; ///< 128 + signal if a signal ended it
  double seconds = 0;
  std::string out, err; ///< its output, up to the limit of ProcessSpec
};

/// Runs the command in the current folder and reads its trace, which stays in `folder`. Fails with
/// Usage if the program cannot be started, with BaselineFailed if a signal ends it or it launches
/// nothing, and with Environment if nothing could be recorded.
Result<ObservedTrace> observeProgram(ProcessRunner &processes, const CaptureSetup &setup,
                                     const std::vector<std::string> &command,
                                     const std::vector<SnapshotOrder> &orders,
                                     const TraceSettings &limits,
                                     const std::filesystem::path &folder, ProgramRun &run);

} // namespace kopt
