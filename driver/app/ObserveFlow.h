// SPDX-License-Identifier: Apache-2.0
// `kopt observe`, and the traces that `--run` takes workloads from.
#pragma once

#include "driver/app/programs/ProgramHost.h"
#include "driver/app/services/Services.h"
#include "driver/app/services/Sources.h"
#include "driver/model/TuneSubject.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <functional>

namespace kopt {

/// Chooses the kernels to snapshot from all kernels that a program launched. Returns their symbols
/// in the trace.
using ChooseKernels =
    std::function<Result<std::vector<std::string>>(const std::vector<KernelShare> &launched)>;

struct ObserveSettings {
  std::vector<std::string> command;
  SourceSettings sources;           ///< in which kernels are looked for; may be empty
  std::vector<std::string> kernels; ///< names or globs; empty: the annotated ones of the sources
  ChooseKernels choose;             ///< replaces `kernels`; called after the program's first run
  /// How many kinds of launches of each chosen kernel to snapshot; 0: only rank the kernels.
  std::size_t snapshots = 0;
  /// Run the program only once and take the first launches of each geometry instead of typical
  /// ones.
  bool once = false;
  TraceSettings limits;
  std::filesystem::path output; ///< folder for the trace; empty: it is not kept
};

struct ObserveOutcome {
  ObservedTrace trace;
  std::vector<KernelUse> kernels;
  std::vector<KernelSpec> sources; ///< the kernels of the given files
  std::vector<std::string> chosen; ///< symbols of the kernels that were snapshotted
  ProgramRun run;                  ///< the last run
  std::vector<std::string> notes;
};

/// Fails as observeProgram(), and with Usage if none of the named kernels was launched.
Result<ObserveOutcome> observeKernels(Services services, ProgramHost &host,
                                      const ObserveSettings &settings);

/// The kernels that a program launched, and the launches of the chosen ones.
struct ProgramKernels {
  ObservedTrace trace;
  std::vector<KernelShare> shares; ///< of all kernels, by time, the longest first
  std::vector<std::string> chosen; ///< the kernels with snapshots
  double seconds = 0;              ///< time of its runs; 0 if the trace was cached
};

/// Runs a program twice: `choose` chooses kernels by the times of the first run, and the second run
/// snapshots their launches. The trace is cached below `root`; the program does not run again as
/// long as it and the signatures of the `candidates` stay the same. Fails as observeKernels() and
/// `choose`.
Result<ProgramKernels> programKernels(Services services, ProgramHost &host,
                                      const std::filesystem::path &root, const std::string &command,
                                      const std::vector<KernelInstance> &candidates,
                                      const ChooseKernels &choose);

/// The trace of a program, with snapshots of those kernels of the subjects that it launched.
Result<ObservedTrace> programTrace(Services services, ProgramHost &host,
                                   const std::filesystem::path &root, const std::string &command,
                                   const std::vector<TuneSubject> &subjects);

} // namespace kopt
