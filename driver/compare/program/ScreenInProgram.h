// SPDX-License-Identifier: Apache-2.0
// Runs the user's program with several candidates for one kernel, to choose which of them to
// confirm: the one that is fastest alone need not be the fastest in the program.
#pragma once

#include "driver/compare/program/ProgramPair.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// How many times as fast the program's launches of the kernel are with each of the edits, compared
/// with `before`, a run of the program as it is by each of its commands. Nothing for edits with
/// which the program cannot be built or fails, or whose kernel is not timed. Each program is run
/// once, so the values are no evidence of a gain. After a run of more than six seconds those left
/// are not tried.
std::vector<std::optional<double>> screenInProgram(ProgramPair &programs,
                                                   const std::vector<ProgramSample> &before,
                                                   const std::string &symbol,
                                                   const std::vector<ProgramEdits> &edits);

} // namespace kopt
