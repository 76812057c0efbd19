// SPDX-License-Identifier: Apache-2.0
// `kopt apply`: the winner of a recorded run, put into the user's files.
#pragma once

#include "driver/integrate/patch/Patch.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

/// Applies the patch of the run findRun() finds to every file or to none; with `checkOnly` nothing
/// is written. Fails as findRun() and applyPatch(), and with Usage where the run has no winner.
Result<std::vector<AppliedFile>> applyRun(const std::filesystem::path &root,
                                          const std::string &name, bool checkOnly);

} // namespace kopt
