// SPDX-License-Identifier: Apache-2.0
// The end of `kopt tune`: the winners of its kernels as one patch, confirmed in the program.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/integrate/SessionFlow.h"
#include "driver/workload/observed/KernelChoice.h"
#include "driver/workload/observed/TraceFolder.h"

namespace kopt {

/// What it needs of the session that found the wins.
struct SessionEnd {
  Services &services;
  Workbench &bench;
  Store &store;
  const SourceSettings &sources;
  JudgeOptions judge;                           ///< as the candidates were judged
  const std::optional<ObservedTrace> &observed; ///< of `program`
  std::filesystem::path root, output;           ///< of the project; folders of the runs
  std::string program, build, tests;            ///< of --run, --build and TESTS; empty: none
  double minGain = 0.01;
  std::function<bool()> isTimeUp{}; ///< of the search; empty: it has no limit
};

/// How much of a run of the program a win saves, as far as its isolated times say: the kernel's
/// time in it, or in the workload where no program was observed (null), times what is gained.
double savedSeconds(const Trial &winner, const KernelShare *share);

/// Composes, confirms, stores, and writes the session's folder. Fails as integrateWins().
Result<SessionRecord> endSession(const SessionEnd &end, std::vector<Win> wins);

} // namespace kopt
