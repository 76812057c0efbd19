// SPDX-License-Identifier: Apache-2.0
// The old and the new program, really built and run.
#pragma once

#include "driver/device/capture/ObserveProgram.h"
#include "driver/integrate/confirm/BuildWay.h"
#include "driver/integrate/confirm/ProgramPair.h"
#include "driver/integrate/confirm/ProjectCopy.h"
#include "driver/workload/observed/TraceFolder.h"

#include <memory>

namespace kopt {

struct ProgramRequest {
  BuildWay way;
  std::string command;                     ///< of the program, as --run has it
  std::filesystem::path directory;         ///< in which it starts
  std::string tests;                       ///< regular expression of ctest's tests; empty: none
  std::vector<std::filesystem::path> left; ///< of the project: not copied
  std::filesystem::path patchRoot;         ///< of the patches
  std::filesystem::path scratch;           ///< an empty folder
};

/// Fails with Usage where the command cannot be split into words, and as checkCapture().
Result<std::unique_ptr<ProgramPair>>
openPrograms(ProcessRunner &processes, const CaptureSetup &capture, ProgramRequest request);

/// What one run of a program launched.
std::vector<KernelSample> kernelSamples(const ObservedTrace &trace);

} // namespace kopt
