// SPDX-License-Identifier: Apache-2.0
// kopt.out/<run>/: report.html, report.md, run.json, kernel.cu (the baseline's slice),
// winner.patch, and for each trial a folder with candidate.cu, diff.patch, build.log and
// trial.json.
#pragma once

#include "driver/store/Store.h"

#include <filesystem>

namespace kopt {

/// Writes the folder from the database and replaces existing files. Fails with Environment, naming
/// the file, if one cannot be written. The database is not changed.
Status writeRunFolder(Store &store, const RunRecord &run, const std::filesystem::path &folder);

} // namespace kopt
