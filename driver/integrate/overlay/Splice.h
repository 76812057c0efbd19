// SPDX-License-Identifier: Apache-2.0
// Inserts texts into another text, with #line directives so that every line keeps its origin. Pure
// functions.
#pragma once

#include "driver/integrate/overlay/Lock.h"

namespace kopt::overlay {

/// A replacement within one file.
struct Splice {
  std::uint64_t begin = 0, end = 0;
  NewText text;
  std::vector<std::string> archs; ///< applies only to code for these; empty: always
};

/// The starts of lines where a directive may stand: not within a comment, a literal, parentheses or
/// a continued line. The first is 0; the end of the text is not included.
std::vector<std::size_t> safeLines(std::string_view text);

/// Makes the replacements. `name` is the file's name in #line directives. Splices may only overlap
/// if they are for different architectures.
std::string splice(std::string_view text, const std::string &name, std::vector<Splice> splices);

/// An #include of a text.
struct Include {
  std::size_t begin = 0, end = 0; ///< of the name with its quotes or brackets
  std::string name;
  bool isQuoted = false;
};
std::vector<Include> includesIn(std::string_view text);

} // namespace kopt::overlay
