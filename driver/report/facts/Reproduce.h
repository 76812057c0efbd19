// SPDX-License-Identifier: Apache-2.0
// Command lines for a recorded run: the one that makes it again, and the one that profiles its
// kernel.
#pragma once

#include "driver/model/Run.h"

#include <string>

namespace kopt {

/// `cd FOLDER && kopt tune …` with everything that decides the run: files, flags, device, budgets
/// and seed as they were when it began, wherever they had been set. A run of the same files with it
/// has the same inputs_hash. Clauses of a kopt.toml stay in that file.
std::string reproduceCommand(const RunRecord &run);

/// `kopt profile …` of the run's kernel, on the same device and with the same flags: it shows the
/// hot lines, of which a run records nothing.
std::string profileCommand(const RunRecord &run);

} // namespace kopt
