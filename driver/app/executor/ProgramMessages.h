// SPDX-License-Identifier: Apache-2.0
// What kopt and a worker say to each other of the user's program.
#pragma once

#include "driver/app/programs/ProgramHost.h"
#include "driver/device/worker/WorkerLink.h"

namespace kopt {

constexpr auto spellings(BuildWay::Kind) {
  return std::to_array<std::string_view>({"command", "cmake", "compiler"});
}
constexpr auto spellings(Side) { return std::to_array<std::string_view>({"old", "new"}); }
KOPT_FIELDS(BuildWayRequest, command, buildDirectory, files, flags, program, root, directory, nvcc)
KOPT_FIELDS(BuildWay, kind, argv, directory, project, build)
KOPT_FIELDS(ProgramRequest, way, commands, directory, tests, left, root)
KOPT_FIELDS(KernelSample, symbol, code, geometries, launches, seconds, launchSeconds)
KOPT_FIELDS(ProgramSample, command, exitCode, failure, out, seconds, programHash, kernels)
KOPT_FIELDS(SnapshotOrder, symbol, how)
KOPT_FIELDS(TraceSettings, snapshotBytes, launches, code, depth)
KOPT_FIELDS(ProgramRun, exitCode, seconds, out, err)

struct ObserveRequest {
  std::vector<std::string> command;
  std::vector<SnapshotOrder> orders;
  TraceSettings limits;
};
KOPT_FIELDS(ObserveRequest, command, orders, limits)

struct ObserveReply {
  ProgramRun run;
  std::vector<WorkerFile> files; ///< of the trace, with paths in it; the worker keeps them
};
KOPT_FIELDS(ObserveReply, run, files)

/// Builds one or both of the opened programs. The answer has a std::optional<WorkerError> for each
/// build; the old program's comes first.
struct ProgramsToBuild {
  bool old = false, fresh = false;
  std::vector<ProgramEdits> edits; ///< of the new programs; one, if the old one is built
};
KOPT_FIELDS(ProgramsToBuild, old, fresh, edits)

struct RunRequest {
  Side side = Side::Old;
  std::uint64_t index = 0;
};
KOPT_FIELDS(RunRequest, side, index)

} // namespace kopt
