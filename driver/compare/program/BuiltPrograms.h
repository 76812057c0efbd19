// SPDX-License-Identifier: Apache-2.0
// The old and the new program, built and run from copies of the project.
#pragma once

#include "driver/compare/program/BuildWay.h"
#include "driver/compare/program/ProgramPair.h"
#include "driver/compare/program/ProjectCopy.h"
#include "driver/device/capture/ObserveProgram.h"
#include "driver/workload/observed/TraceFolder.h"

#include <functional>
#include <memory>

namespace kopt {

struct ProgramRequest {
  BuildWay way;
  std::vector<std::string> commands;       ///< that run the program, from --run; at least one
  std::filesystem::path directory;         ///< in which the program starts
  std::string tests;                       ///< regular expression of ctest's tests; empty: none
  std::vector<std::filesystem::path> left; ///< paths in the project that are not copied
  std::filesystem::path root;              ///< to which the paths of edits are relative
};
/// Takes the wall time of each run of a program; may be empty.
using TakeSeconds = std::function<void(double seconds)>;

/// `scratch` is an empty folder. Fails with Usage if a command cannot be split into words, and as
/// checkCapture().
Result<std::unique_ptr<ProgramPair>>
openPrograms(ProcessRunner &processes, const CaptureSetup &capture, ProgramRequest request,
             const std::filesystem::path &scratch, TakeSeconds ran);

/// The kernels that one run of a program launched.
std::vector<KernelSample> kernelSamples(const ObservedTrace &trace);

} // namespace kopt
