// SPDX-License-Identifier: Apache-2.0
// Escapes foreign text for Markdown.
#pragma once

#include "driver/support/Text.h"

#include <string>

namespace kopt {

/// Text inside a table cell: one line, without characters that Markdown treats as structure.
inline std::string cell(const std::string &text) {
  const std::string plain = replaceAll(replaceAll(text, "|", "\\|"), "<", "&lt;");
  return replaceAll(replaceAll(plain, "\r", ""), "\n", " ");
}

/// Code inside a table cell, where only a bar is structure. Backticks become quotes.
inline std::string codeCell(const std::string &code) {
  if (code.empty())
    return code;
  const std::string plain = replaceAll(replaceAll(code, "|", "\\|"), "`", "'");
  return "`" + replaceAll(replaceAll(plain, "\r", ""), "\n", " ") + "`";
}

} // namespace kopt
