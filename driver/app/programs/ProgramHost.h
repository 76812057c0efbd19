// SPDX-License-Identifier: Apache-2.0
// Where the user's program lives: it is observed, built and run there.
#pragma once

#include "driver/compare/program/BuiltPrograms.h"

namespace kopt {

/// Commands run in the current folder, or in what is that folder there.
class ProgramHost {
public:
  virtual ~ProgramHost() = default;
  /// The most bytes of snapshots that one process may leave in a trace in `folder`. Fails with
  /// Environment, saying what is missing and what to do, if programs cannot be observed there.
  virtual Result<std::uint64_t> snapshotBytes(const TraceSettings &limits,
                                              const std::filesystem::path &folder) = 0;
  /// As commandIdentity().
  virtual Result<std::string> identityOf(const std::vector<std::string> &command) = 0;
  /// As observeProgram(). Contents of buffers may stay there.
  virtual Result<ObservedTrace> observe(const std::vector<std::string> &command,
                                        const std::vector<SnapshotOrder> &orders,
                                        const TraceSettings &limits,
                                        const std::filesystem::path &folder, ProgramRun &run) = 0;
  /// False if contents of an earlier trace are no longer where judges can get them.
  virtual bool holds(const std::filesystem::path &trace) = 0;
  /// As kopt::findBuildWay(), with nvcc as it is there.
  virtual Result<BuildWay> findBuildWay(BuildWayRequest request) = 0;
  /// As openPrograms().
  virtual Result<std::unique_ptr<ProgramPair>>
  open(ProgramRequest request, const std::filesystem::path &scratch, TakeSeconds ran) = 0;
};

} // namespace kopt
