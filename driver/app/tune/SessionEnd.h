// SPDX-License-Identifier: Apache-2.0
// The end of `kopt tune`: makes one patch of the winners of all kernels and confirms it in the
// program.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/integrate/SessionFlow.h"
#include "driver/workload/observed/KernelChoice.h"
#include "driver/workload/observed/TraceFolder.h"

namespace kopt {

/// What endSession() needs from the session that found the wins.
struct SessionEnd {
  Services &services;
  Workbench &bench;
  Store &store;
  const SourceSettings &sources;
  JudgeOptions judge;                       ///< options with which the candidates were judged
  const std::vector<ObservedRun> &observed; ///< of `programs`
  std::filesystem::path root, output;       ///< root of the project; folder of the run folders
  std::vector<std::string> programs;        ///< command lines of --run; none: there is no program
  std::string build, tests;                 ///< of --build and TESTS; empty: none
  double minGain = 0.01;
  Objective objective = Objective::Mean;
  /// True once there is no time left to judge another kernel; empty: no limit.
  std::function<bool()> isTimeUp{};
  /// Takes the seconds of each run of the old or the new program; may be empty.
  std::function<void(double seconds)> ranProgram{};
};

/// Estimates from isolated times the seconds that a win saves in a run of the program: the kernel's
/// time in it (if `share` is null, because no program was observed, the time of the workload) times
/// the relative gain of all launches together.
double savedSeconds(const Trial &winner, double speedup, const KernelShare *share);

/// The mean time of a launch in isolation, where the launches of the workload occur as often as
/// their shares of the kernel's time (the weights) say.
LaunchSeconds launchSeconds(const Trial &winner, const Workload &workload);

/// What the winner gains on the launches of each of several commands; empty for one command.
std::vector<RunGain> gainsByRun(const Trial &winner, const Workload &workload,
                                const std::vector<std::string> &commands);

/// How many times as fast the candidates of the subject's trials are in the program, as
/// screenInProgram(); nothing for a candidate that cannot be written to the user's files. Fails
/// with Internal if there is no folder for the copies of the program.
Result<std::vector<std::optional<double>>> screenTrials(const SessionEnd &end,
                                                        const TuneSubject &subject,
                                                        const std::vector<const Trial *> &trials);

/// Composes and confirms the wins, stores the session and writes its folder. Fails as
/// integrateWins().
Result<SessionRecord> endSession(const SessionEnd &end, std::vector<Win> wins);

} // namespace kopt
