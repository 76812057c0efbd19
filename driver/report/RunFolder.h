// SPDX-License-Identifier: Apache-2.0
// kopt.out/<run>/: report.html, report.md, run.json, kernel.cu (the baseline's slice),
// winner.patch, and for each trial a folder with candidate.cu, diff.patch (to the baseline),
// parent.patch (to the candidate that it was made from, if that is another), memo.txt (what became
// of it, with its counters), build.log and trial.json.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <filesystem>

namespace kopt {

/// Writes the folder from the database and replaces existing files. Fails with Environment, naming
/// the file, if one cannot be written. The database is not changed.
Status writeRunFolder(Store &store, const RunRecord &run, const std::filesystem::path &folder);

/// Writes what models were asked and what they replied, which is else in the database alone:
/// calls/003-coder.request and .reply. Fails as writeRunFolder() does.
Status writeTranscripts(const RunHistory &history, const std::filesystem::path &folder);

} // namespace kopt
