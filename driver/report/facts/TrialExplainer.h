// SPDX-License-Identifier: Apache-2.0
// Explains one trial of a run.
#pragma once

#include "driver/report/facts/Explain.h"

namespace kopt {

/// Explains one candidate: where it came from, what each stage found, and what became of it.
/// `which` is its number in the report, or the beginning of its hash (at least four digits). Fails
/// with Usage if there is no such trial, or more than one.
Result<std::vector<Explanation>> explainTrial(const RunHistory &history, const std::string &which);

} // namespace kopt
