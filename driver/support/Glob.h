// SPDX-License-Identifier: Apache-2.0
// Shell-style patterns for names.
#pragma once

#include <string>

namespace kopt {

/// True if a pattern matches the whole text. `*` matches any text, `?` any character, `[a-c]` one
/// of these characters, `[!a-c]` any other character, and `\` makes the next character literal. A
/// text always matches itself, whatever it contains.
bool matchesGlob(const std::string &pattern, const std::string &text);

} // namespace kopt
