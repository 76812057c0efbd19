// SPDX-License-Identifier: Apache-2.0
// The last part of a session: the winners of all searches become one patch, and the patch is
// confirmed in the user's program.
#pragma once

#include "driver/compare/program/Confirm.h"
#include "driver/integrate/compose/OwnSpecialization.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/store/Store.h"

#include <functional>
#include <memory>

namespace kopt {

/// Returns an instantiation as a subject that can be judged. Fails if no slice could be made of it.
using FindSubject = std::function<Result<TuneSubject>(const Specialization &)>;
/// Judges a subject with the text that the wins give it. Fails if the workload has no launch of it.
using JudgeComposed = std::function<Result<Trial>(const TuneSubject &, const Candidate &)>;

/// Opens the user's program, for patches of files below `patchRoot`. Fails, with the reason, if the
/// program cannot be built or run here.
using OpenPrograms =
    std::function<Result<std::unique_ptr<ProgramPair>>(const std::filesystem::path &patchRoot)>;

struct SessionServices {
  Store &store;
  Clock &clock;
  FindSubject subject;
  JudgeComposed judge;
  Specialize specialize;
  OpenPrograms programs;
  TellProgress tell;
  /// True once there is no time to judge another kernel. A win then becomes an explicit
  /// specialization if possible, so that the others that share its text need not be judged. Empty:
  /// there is no limit.
  std::function<bool()> isTimeUp{};
};

struct SessionRequest {
  std::vector<Win> wins; ///< one for each run with a winner; at least one
  const ExtractionResult &extraction;
  std::string device;    ///< its name
  bool modelled = false; ///< times are modelled, so nothing is confirmed in a program
  std::string program;   ///< of --run, for the report
  std::string buildWay;  ///< describes the build, for the report
  ConfirmPolicy policy;
  std::string arch{};            ///< of the device: "sm_90"
  std::filesystem::path build{}; ///< the build folder, for patchRoot()
};

/// Composes the wins, judges the other instantiations that share their text, and confirms the
/// patch. The record is stored after each step and once more at the end. Fails with Environment if
/// the store or a file fails, and with StaleInput if a source file has changed since it was read.
Result<SessionRecord> integrateWins(SessionRequest request, const SessionServices &services);

} // namespace kopt
