// SPDX-License-Identifier: Apache-2.0
// The report of a run, for people. It is a pure function of the database, so it is the same
// whenever it is rendered.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <string>

namespace kopt {

/// Renders the verdict first, then the evidence for it, every trial with its reason, what could not
/// be checked, and how to apply and reproduce the result.
std::string renderMarkdown(const RunHistory &history);
/// As above, with diagnoses of the baseline's and the winner's counters that the caller already
/// has.
std::string renderMarkdown(const RunHistory &history, const Diagnosis &before,
                           const Diagnosis &after);
Result<std::string> renderMarkdown(Store &store, const RunRecord &run);

/// The same facts for programs, with every sample.
std::string renderJson(const RunHistory &history);
std::string renderTrialJson(const Trial &trial);

} // namespace kopt
