// SPDX-License-Identifier: Apache-2.0
// The times of one kernel in runs of the old and the new program.
#pragma once

#include "driver/compare/program/ProgramPair.h"
#include "driver/model/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The runs of both programs, in pairs.
struct PairedRuns {
  std::vector<ProgramSample> old, fresh;
};

/// One run by each of a program's commands as if it were a single run: seconds and launches are
/// sums. Exit code, failure and command are those of the first one that failed; output is that of
/// the first one.
ProgramSample together(const std::vector<ProgramSample> &runs);

/// The kernel's name without template arguments: that of all its instantiations.
std::string withoutTemplateArguments(const std::string &symbol);

/// PairedRuns of single launches, for when there are too few runs to compare whole runs. Empty if
/// launches cannot be paired. `old` and `fresh` are the kernel's symbols in the two programs.
std::vector<TimingSample> launchPairs(const PairedRuns &pairs, const std::string &old,
                                      const std::string &fresh);

/// The kernel's times in all runs; with fewer than `fewRuns` pairs, the interval is that of the
/// launches. Where every launch is timed, the speedup is that of the objective, over the launches
/// of a run. Nothing if it was not launched or not timed in one of them.
std::optional<ProgramTime> timeOf(const PairedRuns &pairs, const std::string &symbol,
                                  double confidence, std::size_t fewRuns,
                                  Objective objective = Objective::Mean);

/// Symbols of the kernels whose machine code differs in the patched program, in the order of the
/// old program's kernels.
std::vector<std::string> changedKernels(const PairedRuns &pairs);

} // namespace kopt
