// SPDX-License-Identifier: Apache-2.0
// Runs the user's program with several candidates for one kernel, to choose which of them to
// confirm: the one that is fastest alone need not be the fastest in the program.
#pragma once

#include "driver/integrate/confirm/ProgramPair.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// How many times as fast the program's launches of the kernel are with each patch, compared with
/// `before`, a run of the program as it is. Nothing for a patch with which the program cannot be
/// built or fails, or whose kernel is not timed. Each program is run once, so the values are no
/// evidence of a gain. After a run of more than six seconds the patches left are not tried.
std::vector<std::optional<double>> screenInProgram(ProgramPair &programs,
                                                   const ProgramSample &before,
                                                   const std::string &symbol,
                                                   const std::vector<Patch> &patches);

} // namespace kopt
