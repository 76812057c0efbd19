// SPDX-License-Identifier: Apache-2.0
// `kopt observe`, and the traces that `--run` takes workloads from.
#pragma once

#include "driver/app/Sources.h"
#include "driver/device/capture/ObserveProgram.h"
#include "driver/model/TuneSubject.h"
#include "driver/workload/observed/TraceWorkload.h"

namespace kopt {

struct ObserveSettings {
  std::vector<std::string> command;
  SourceSettings sources;           ///< that kernels are looked for in; may be empty
  std::vector<std::string> kernels; ///< names or globs; empty: the annotated ones of the sources
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

/// The trace of a program with snapshots of the subjects' kernels: the one that is kept, or one
/// made now.
Result<ObservedTrace> programTrace(Services services, const std::filesystem::path &root,
                                   const std::string &command,
                                   const std::vector<TuneSubject> &subjects);

} // namespace kopt
