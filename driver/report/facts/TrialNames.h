// SPDX-License-Identifier: Apache-2.0
// Names and summaries of trials in sentences.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <string>

namespace kopt {

/// "#7 'pad the rows of tile'", or "the baseline". The number is the one in the report.
std::string nameOfTrial(const RunHistory &history, std::size_t index);

/// "#7 'pad the rows of tile': faster, decided at time: 1.895x".
std::string outcomeOf(const RunHistory &history, std::size_t index);

/// What a candidate changes besides code: "TILE = 32".
std::vector<std::string> partsOf(const Candidate &candidate);

/// "1.870x".
std::string factorInWords(double estimate);
/// "[1.840, 1.905]"; "modelled" if there is none.
std::string intervalInWords(const Speedup &speedup);
/// "1.870x [1.840, 1.905]", "1.870x modelled".
std::string speedupInWords(const Speedup &speedup);

/// Replaces line breaks, with the blanks around them, by single spaces, and cuts at `width` bytes
/// with an ellipsis.
std::string oneLine(const std::string &text, std::size_t width = 400);
/// Removes the full stop at the end, for use within a sentence.
std::string withoutStop(std::string text);

} // namespace kopt
