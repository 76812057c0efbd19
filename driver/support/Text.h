// SPDX-License-Identifier: Apache-2.0
// Small helpers for text that people read: mistyped names, durations, percentages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// The system's message for an errno.
std::string systemMessage(int error);
std::string_view trim(std::string_view text);
/// The pieces between the separators, including empty ones; "" gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string> &parts, std::string_view separator);
std::string replaceAll(std::string text, std::string_view from, std::string_view to);
/// The text with a space in place of each control character, line ends among them.
std::string withoutControls(std::string text);
/// The text with U+FFFD in place of each byte sequence that is not valid UTF-8, for readers that
/// require UTF-8 (databases, JSON).
std::string validUtf8(const std::string &text);

/// The number of insertions, deletions, substitutions and swaps of neighbours that turn one text
/// into the other.
std::size_t editDistance(std::string_view a, std::string_view b);
/// The nearest of `known`, if it is near enough to be meant; otherwise empty.
std::string closestMatch(std::string_view name, const std::vector<std::string> &known);
/// "did you mean 'X'?", or empty.
std::string didYouMean(std::string_view name, const std::vector<std::string> &known);

/// "1.23 us", "450 ms", "12.3 s", "4 min 05 s", "2 h 03 min".
std::string formatDuration(double seconds);
/// A fraction as a percentage with one decimal: 0.0534 is "5.3%".
std::string formatPercent(double fraction);
/// "512 B", "1.5 KiB", "2.0 MiB".
std::string formatBytes(double bytes);
/// Four significant digits without an exponent where that is readable: "0.125", "32", "1.235e+09".
std::string formatNumber(double value);
/// "1 kernel is", "2 kernels are": the number, and the words for one or for many.
std::string counted(std::size_t number, std::string_view one, std::string_view many);

/// Lower-case letters, digits and single dashes, at most `limit` characters: part of a file name.
std::string slug(std::string_view text, std::size_t limit = 40);

} // namespace kopt
