// SPDX-License-Identifier: Apache-2.0
// Texts put into another one so that every line still says where it comes from. Pure functions.
#pragma once

#include "driver/integrate/overlay/Lock.h"

namespace kopt::overlay {

/// A replacement within one file.
struct Splice {
  std::uint64_t begin = 0, end = 0;
  NewText text;
  std::vector<std::string> archs; ///< only where code for one of these is compiled; empty: always
};

/// The starts of lines where a directive may stand: not within a comment, a literal, parentheses or
/// a line that goes on. The first is 0; the end of the text is not among them.
std::vector<std::size_t> safeLines(std::string_view text);

/// `name` is what #line calls the file. Splices that overlap are those of different architectures.
std::string splice(std::string_view text, const std::string &name, std::vector<Splice> splices);

/// An #include of a text.
struct Include {
  std::size_t begin = 0, end = 0; ///< of the name with its quotes or brackets
  std::string name;
  bool isQuoted = false;
};
std::vector<Include> includesIn(std::string_view text);

} // namespace kopt::overlay
