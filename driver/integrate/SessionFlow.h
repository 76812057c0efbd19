// SPDX-License-Identifier: Apache-2.0
// What happens once every kernel has been searched: the winners become one patch, and the patch is
// confirmed in the user's program.
#pragma once

#include "driver/integrate/confirm/Confirm.h"
#include "driver/store/Store.h"

#include <functional>
#include <memory>

namespace kopt {

/// An instantiation as it can be judged. Fails where it could not be lifted out.
using FindSubject = std::function<Result<TuneSubject>(const Specialization &)>;
/// Judges it with the text that the wins give it. Fails where the workload has no launch of it.
using JudgeComposed = std::function<Result<Trial>(const TuneSubject &, const Candidate &)>;

/// The user's program, for patches of files below `patchRoot`. Fails, saying why, where it cannot
/// be built or run here.
using OpenPrograms =
    std::function<Result<std::unique_ptr<ProgramPair>>(const std::filesystem::path &patchRoot)>;

struct SessionServices {
  Store &store;
  Clock &clock;
  FindSubject subject;
  JudgeComposed judge;
  OpenPrograms programs;
  TellProgress tell;
  /// The time for the search is used up: then a win gets a specialization of its own where it can,
  /// rather than that everybody who shares its text is judged. Empty: there is no limit.
  std::function<bool()> isTimeUp{};
};

struct SessionRequest {
  std::vector<Win> wins; ///< one for each run with a winner; at least one
  const ExtractionResult &extraction;
  std::string device;    ///< its name
  bool modelled = false; ///< times are modelled: no program is asked
  std::string program;   ///< of --run, for the report
  std::string buildWay;  ///< in words, for the report
  ConfirmPolicy policy;
  std::string arch{}; ///< of the device: "sm_90"
};

/// Composes, judges whoever shares the text, and confirms. The record is stored after each step,
/// and once more at its end. Fails with Environment where the store or a file does, with StaleInput
/// where a source file changed since it was read.
Result<SessionRecord> integrateWins(SessionRequest request, const SessionServices &services);

} // namespace kopt
