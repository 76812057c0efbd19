// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/contract/ReplyText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <regex>
#include <set>

namespace kopt {
namespace {

/// Reads the names in the block's info.
void readLabel(ReplyBlock &block) {
  static const std::set<std::string> kLanguages{"", "c", "c++", "cpp", "cu", "cuda"};
  std::string info = block.info;
  if (const std::size_t at = info.find("candidate="); at != info.npos) {
    const std::size_t end = std::min(info.find(" chunk=", at), info.size());
    block.candidate = trim(info.substr(at + 10, end - at - 10));
    info = trim(info.erase(at, end - at));
  }
  const std::size_t word = std::min(info.find_first_of(" \t"), info.size());
  if (const std::size_t at = info.find("chunk="); at != info.npos)
    block.chunk = trim(info.substr(at + 6));
  else
    block.chunk = trim(kLanguages.contains(info.substr(0, word)) ? info.substr(word) : info);
}

} // namespace

std::vector<ReplyBlock> blocksIn(std::string_view reply) {
  std::vector<ReplyBlock> blocks;
  char mark = 0;          // of the open fence
  std::size_t fence = 0;  // its length; 0: outside
  std::size_t indent = 0; // of the open fence, which its text has too
  for (std::string_view line : split(reply, '\n')) {
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    const std::size_t blank = std::min(line.find_first_not_of(" \t"), line.size());
    // A fence may open behind the mark of a list, or of UTF-8.
    const std::size_t begin =
        fence ? blank : line.find_first_not_of("0123456789.)-*+ \t\xef\xbb\xbf");
    const std::string_view content = trim(line.substr(std::min(begin, line.size())));
    const char first = content.empty() ? ' ' : content.front();
    const std::size_t length = std::min(content.find_first_not_of(first), content.size());
    const std::string_view info = trim(content.substr(length));
    const bool isFence = (fence ? first == mark : first == '`' || first == '~') &&
                         length >= std::max(fence, std::size_t(3)) && info.find('`') == info.npos;
    if (isFence && (!fence || info.find("chunk=") != info.npos)) {
      mark = first;
      fence = length;
      indent = blank;
      readLabel(blocks.emplace_back(ReplyBlock{std::string(info)}));
    } else if (isFence && info.empty()) {
      fence = 0;
      blocks.back().isClosed = true;
    } else if (fence) {
      blocks.back().text.append(line.substr(std::min(blank, indent))).push_back('\n');
    }
  }
  return blocks;
}

std::string strictJson(std::string_view json) {
  constexpr int kMostDepth = 32;
  std::string strict;
  std::size_t comma = strict.npos; // that only blanks and comments followed
  int depth = 0;
  bool inText = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto c = static_cast<unsigned char>(json[i]);
    const std::string_view pair = json.substr(i, 2);
    if (inText && c == '\\' && pair.size() == 2 && static_cast<unsigned char>(pair[1]) >= 0x20) {
      strict += pair;
      ++i;
    } else if (inText && (c < 0x20 || c == '\\')) {
      strict += fmt::format("\\u{:04x}", c);
    } else if (!inText && (pair == "//" || pair == "/*")) {
      const bool isLine = pair == "//";
      i = std::min(json.find(isLine ? "\n" : "*/", i + 2), json.size()) + (isLine ? 0 : 1);
      strict += isLine ? '\n' : ' ';
    } else {
      inText = inText != (c == '"');
      if ((c == '}' || c == ']') && !inText && comma != strict.npos)
        strict[comma] = ' ';
      if (!std::isspace(c))
        comma = c == ',' && !inText ? strict.size() : strict.npos;
      if (!inText)
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      if (depth > kMostDepth)
        return {};
      strict += char(c);
    }
  }
  return strict;
}

std::string findElision(std::string_view text, std::string_view original) {
  static const std::regex kOnlyDots(R"(^\s*(//|/\*|#)?\s*(\.\.\.|…)\s*(\*/)?\s*$)");
  static const std::regex kDots(R"((//|/\*).*(\.\.\.|…))");
  static const std::regex kWords(
      R"(\b(rest|remain\w*|unchanged|same|existing|omitted|original|previous|before|as is|keep|etc|here)\b)",
      std::regex::icase);
  static const std::regex kPhrase(
      R"((//|/\*).*\b((rest|remainder) of (the )?(\w+ )?(code|kernel|function|body|file|loop)|omitted for brevity|)"
      R"((existing|original|previous) (code|body|implementation) (here|goes|stays|unchanged)|(code|body|implementation) (is |remains )?unchanged))",
      std::regex::icase);
  for (const std::string &line : split(text, '\n')) {
    if (line.size() > 2000) // std::regex recurses per character
      continue;
    bool elides = std::regex_search(line, kOnlyDots) ||
                  (std::regex_search(line, kDots) && std::regex_search(line, kWords)) ||
                  std::regex_search(line, kPhrase);
    if (elides && original.find(trim(line)) == std::string_view::npos)
      return std::string(trim(line));
  }
  return {};
}

} // namespace kopt
