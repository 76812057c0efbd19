// SPDX-License-Identifier: Apache-2.0
// `kopt observe`, and the traces that `--run` takes workloads from.
#pragma once

#include "driver/app/Sources.h"
#include "driver/device/capture/ObserveProgram.h"
#include "driver/model/TuneSubject.h"
#include "driver/workload/observed/KernelChoice.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <functional>

namespace kopt {

/// The kernels to snapshot, by the symbols in the trace, among all that a program launched.
using ChooseKernels =
    std::function<Result<std::vector<std::string>>(const std::vector<KernelShare> &launched)>;

struct ObserveSettings {
  std::vector<std::string> command;
  SourceSettings sources;           ///< that kernels are looked for in; may be empty
  std::vector<std::string> kernels; ///< names or globs; empty: the annotated ones of the sources
  ChooseKernels choose; ///< in place of `kernels`, once the program has run for the first time
  std::size_t snapshots =
      0; ///< kinds of launches of each chosen kernel to snapshot; 0: only rank the kernels
  bool once = false; ///< one run of the program: the first launches of each geometry instead of
                     ///< typical ones
  ObserveLimits limits;
  std::filesystem::path output; ///< where the trace stays; empty: nowhere
};

struct ObserveOutcome {
  ObservedTrace trace;
  std::vector<KernelUse> kernels;
  std::vector<KernelSpec> sources; ///< the kernels of the given files
  std::vector<std::string> chosen; ///< symbols of the kernels that were snapshotted
  ProgramRun run;                  ///< the last one
  std::vector<std::string> notes;
};

/// Fails as observeProgram() does, and with Usage where none of the named kernels was launched.
Result<ObserveOutcome> observeKernels(Services services, const ObserveSettings &settings);

/// What a program launched, and the launches of chosen kernels.
struct ProgramKernels {
  ObservedTrace trace;
  std::vector<KernelShare> shares; ///< of all kernels, the one with the most time first
  std::vector<std::string> chosen; ///< those with snapshots
  double seconds = 0;              ///< that its runs took; 0 where the trace was kept
};

/// Runs a program twice: the times of the first run are what `choose` chooses by, the second one
/// snapshots the chosen kernels' launches. The trace is kept below `root`: as long as the program
/// and the signatures of the `candidates` are the same, it does not run again. Fails as
/// observeKernels() and `choose` do.
Result<ProgramKernels> programKernels(Services services, const std::filesystem::path &root,
                                      const std::string &command,
                                      const std::vector<KernelInstance> &candidates,
                                      const ChooseKernels &choose);

/// The trace of a program with snapshots of the subjects' kernels, as far as it launched them.
Result<ObservedTrace> programTrace(Services services, const std::filesystem::path &root,
                                   const std::string &command,
                                   const std::vector<TuneSubject> &subjects);

} // namespace kopt
