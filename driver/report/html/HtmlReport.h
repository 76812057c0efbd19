// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file: no script is needed to read it, and nothing is loaded. A pure
// function of the database, as report.md is.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <string>

namespace kopt {

std::string renderHtml(const RunHistory &history);
/// With the rules that fired, where they are known already.
std::string renderHtml(const RunHistory &history, const RunDiagnosis &diagnosis);

/// The page of a session: its wins beside each other, and what the program said.
std::string renderSessionHtml(const SessionRecord &session);

} // namespace kopt
