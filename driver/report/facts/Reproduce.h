// SPDX-License-Identifier: Apache-2.0
// Command lines for a recorded run: one that repeats it, and one that profiles its kernel.
#pragma once

#include "driver/model/Run.h"

#include <string>

namespace kopt {

/// `cd FOLDER && kopt tune …` with everything that decides the run: files, flags, device, budgets
/// and seed with which it began, wherever they were set. A run of this command on the same files
/// has the same inputs_hash. Clauses in a kopt.toml are not included.
std::string reproduceCommand(const RunRecord &run);

/// `kopt profile …` of the run's kernel, on the same device and with the same flags. It shows the
/// hot lines, which a run does not record.
std::string profileCommand(const RunRecord &run);

} // namespace kopt
