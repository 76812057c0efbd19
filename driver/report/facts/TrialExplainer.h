// SPDX-License-Identifier: Apache-2.0
// How trials are called and summed up in sentences.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <string>

namespace kopt {

/// "#7 'pad the rows of tile'", or "the baseline": the number is that of the report.
std::string nameOfTrial(const RunHistory &history, std::size_t index);

/// "#7 'pad the rows of tile': faster, decided at time: 1.895x".
std::string outcomeOf(const RunHistory &history, std::size_t index);

/// Line breaks and what surrounds them as single spaces; at most `width` bytes, then an ellipsis.
std::string oneLine(const std::string &text, std::size_t width = 400);
/// Without the full stop at its end: it stands inside a sentence.
std::string withoutStop(std::string text);

} // namespace kopt
