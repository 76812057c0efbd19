// SPDX-License-Identifier: Apache-2.0
// kopt.out/<run>/: report.html, report.md, run.json, kernel.cu (the baseline's slice),
// winner.patch, and one folder a trial with candidate.cu, diff.patch, build.log and trial.json.
#pragma once

#include "driver/store/Store.h"

#include <filesystem>

namespace kopt {

/// Writes the folder from the database; files that are there already are replaced. Fails with
/// Environment naming the file that could not be written; the database is not touched.
Status writeRunFolder(Store &store, const RunRecord &run, const std::filesystem::path &folder);

} // namespace kopt
