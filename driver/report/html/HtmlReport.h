// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file, which needs no script and loads nothing. A pure function of the
// database, like report.md.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <string>

namespace kopt {

std::string renderHtml(const RunHistory &history);
/// As above, with a diagnosis that the caller already has.
std::string renderHtml(const RunHistory &history, const RunDiagnosis &diagnosis);

/// The page of a session: its wins side by side, and their confirmation in the program.
std::string renderSessionHtml(const SessionRecord &session);

} // namespace kopt
