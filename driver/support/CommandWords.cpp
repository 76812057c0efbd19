// SPDX-License-Identifier: Apache-2.0
#include "driver/support/CommandWords.h"

#include "driver/support/Text.h"

#include <fmt/format.h>
#include <string_view>

namespace kopt {

Result<std::vector<std::string>> splitCommand(const std::string &text) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = quote == 0 || (quote == '"' && i + 1 < text.size() &&
                                        (text[i + 1] == '"' || text[i + 1] == '\\'));
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (inWord)
        words.push_back(word);
      word.clear();
      inWord = false;
      continue;
    }
    inWord = true;
    if (c == '\\' && escapes && i + 1 < text.size() && quote != '\'') {
      word += text[++i];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote != '\'' && std::string_view("|&;<>()$`*?").find(c) != std::string_view::npos &&
               (quote == 0 || c == '$' || c == '`')) {
      return makeError(ErrorCode::Usage,
                       fmt::format("the command '{}' needs a shell ('{}')", text, c),
                       "give a program and its arguments, or put the command into a script");
    } else {
      word += c;
    }
  }
  if (quote != 0)
    return makeError(ErrorCode::Usage,
                     fmt::format("a quote in the command '{}' is not closed", text));
  if (inWord)
    words.push_back(word);
  if (words.empty())
    return makeError(ErrorCode::Usage, "the command to run is empty",
                     "give a program and its arguments");
  return words;
}

std::string joinCommand(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words) {
    const bool plain =
        !word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=.,:/@%") == word.npos;
    line += line.empty() ? "" : " ";
    line += plain ? word : "'" + replaceAll(word, "'", "'\\''") + "'";
  }
  return line;
}

} // namespace kopt
