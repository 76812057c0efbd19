// SPDX-License-Identifier: Apache-2.0
// The report of a run, for people. It is a pure function of the database, so it is the same
// whenever it is rendered.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <string>

namespace kopt {

/// The verdict first, then the evidence for it, every trial with its reason, what could not be
/// checked, and how to apply and reproduce the result.
std::string renderMarkdown(const RunHistory &history);
std::string renderHtml(const RunHistory &history);

/// The same facts for programs, with every sample.
std::string renderJson(const RunHistory &history);
std::string renderTrialJson(const Trial &trial);

} // namespace kopt
