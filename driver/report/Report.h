// SPDX-License-Identifier: Apache-2.0
// What a run found, for people. A pure function of the database: rendered again at any time, the
// text is the same.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <string>

namespace kopt {

/// The verdict first, then the evidence for it, every trial with its reason, what could not be
/// checked, and how to apply and reproduce it.
std::string renderMarkdown(const RunHistory &history);
/// With the rules that fired on the baseline's and the winner's counters, where they are known
/// already.
std::string renderMarkdown(const RunHistory &history, const Diagnosis &before,
                           const Diagnosis &after);
Result<std::string> renderMarkdown(Store &store, const RunRecord &run);

/// The same facts for programs, every sample included.
std::string renderJson(const RunHistory &history);
std::string renderTrialJson(const Trial &trial);

} // namespace kopt
