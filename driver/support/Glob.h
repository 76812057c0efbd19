// SPDX-License-Identifier: Apache-2.0
// Shell-style patterns of names.
#pragma once

#include <string>

namespace kopt {

/// Whether a pattern matches the whole text: `*` any text, `?` any character, `[a-c]` one of these,
/// `[!a-c]` any other one, `\` the next character itself. A text matches itself, whatever it
/// contains.
bool matchesGlob(const std::string &pattern, const std::string &text);

} // namespace kopt
