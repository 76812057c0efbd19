// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Includes.h"

#include "driver/support/FileSystem.h"

#include <algorithm>
#include <optional>

namespace kopt {
namespace {

namespace fs = std::filesystem;

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view skipBlanks(std::string_view text) {
  while (!text.empty() && isBlank(text.front()))
    text.remove_prefix(1);
  return text;
}

struct Directive {
  std::string word, rest;
  std::size_t begin = 0, end = 0; ///< offsets of its line
};

/// Preprocessor directives, and the offset of the first line of code. A '#' at the start of a line
/// inside a multi-line literal is mistaken for a directive.
struct Lines {
  std::vector<Directive> directives;
  std::size_t firstCode = 0;
};

Lines linesOf(std::string_view text) {
  Lines lines;
  bool inComment = false, hasCode = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == text.npos ? text.size() : newline + 1;
    std::string code;
    for (std::size_t i = begin; i < end;) {
      const std::string_view two = text.substr(i, 2);
      if (inComment) {
        inComment = two != "*/";
        i += inComment ? 1 : 2;
      } else if (two == "/*") {
        inComment = true;
        i += 2;
      } else if (two == "//") {
        break;
      } else {
        code += text[i++];
      }
    }
    std::string_view rest = skipBlanks(code);
    while (!rest.empty() && (isBlank(rest.back()) || rest.back() == '\n'))
      rest.remove_suffix(1);
    if (rest.starts_with('#')) {
      rest = skipBlanks(rest.substr(1));
      const std::size_t word = std::min(rest.find_first_of(" \t<\"("), rest.size());
      lines.directives.push_back({std::string(rest.substr(0, word)),
                                  std::string(skipBlanks(rest.substr(word))), begin, end});
    } else if (!rest.empty() && !hasCode) {
      hasCode = true;
      lines.firstCode = begin;
    }
    begin = end;
  }
  if (!hasCode)
    lines.firstCode = text.size();
  return lines;
}

/// The number of directives at the start that form an include guard (`#ifndef X` and `#define X`):
/// 2 or 0.
std::size_t guardOf(const std::vector<Directive> &directives) {
  return directives.size() > 2 && directives[0].word == "ifndef" &&
                 directives[1].word == "define" &&
                 directives[1].rest.starts_with(directives[0].rest) &&
                 directives.back().word == "endif"
             ? 2
             : 0;
}

bool isBelow(const fs::path &file, const fs::path &folder) {
  const fs::path relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

} // namespace

std::vector<IncludeDirective> includesIn(std::string_view text) {
  const std::vector<Directive> directives = linesOf(text).directives;
  std::vector<IncludeDirective> found;
  int depth = guardOf(directives) ? -1 : 0;
  for (const Directive &directive : directives) {
    depth += directive.word.starts_with("if");
    depth -= directive.word == "endif";
    if (directive.word != "include" || directive.rest.size() < 2 ||
        (directive.rest[0] != '<' && directive.rest[0] != '"'))
      continue;
    const std::size_t close = directive.rest.find(directive.rest[0] == '<' ? '>' : '"', 1);
    if (close != std::string::npos)
      found.push_back(
          {directive.rest.substr(0, close + 1), directive.begin, directive.end, depth == 0});
  }
  return found;
}

std::set<std::string> includesOf(const ExtractionResult &original) {
  std::set<std::string> headers;
  for (const auto &[file, hash] : original.fileHashes)
    if (const Result<std::string> text = readFile(file))
      for (IncludeDirective &include : includesIn(*text))
        headers.insert(std::move(include.header));
  return headers;
}

SourceEdit includeEdit(const std::string &file, std::string_view text, std::size_t before,
                       const std::vector<std::string> &headers) {
  const std::vector<IncludeDirective> present = includesIn(text);
  std::optional<std::size_t> at;
  std::set<std::string> known;
  for (const IncludeDirective &include : present)
    if (include.isPlain && include.end <= before) {
      at = include.end;
      known.insert(include.header);
    }
  SourceEdit edit;
  for (const std::string &header : headers)
    if (known.insert(header).second)
      edit.text += "#include " + header + "\n";
  if (!at) {
    // After the comment at the top, the include guard and `#pragma once`.
    const Lines lines = linesOf(text);
    at = 0;
    const std::size_t guard = guardOf(lines.directives);
    for (std::size_t i = 0; i < lines.directives.size(); ++i)
      if (lines.directives[i].end <= before &&
          (i < guard ||
           (lines.directives[i].word == "pragma" && lines.directives[i].rest.starts_with("once"))))
        at = lines.directives[i].end;
    if (*at == 0 && lines.firstCode <= before &&
        (lines.directives.empty() || lines.directives[0].begin > lines.firstCode))
      at = lines.firstCode;
    if (!edit.text.empty())
      edit.text += "\n";
  }
  if (!edit.text.empty() && *at > 0 && text[*at - 1] != '\n')
    edit.text = "\n" + edit.text;
  edit.range = {file, *at, *at};
  return edit;
}

std::vector<fs::path> includeFolders(const std::vector<std::string> &flags,
                                     const fs::path &directory) {
  static constexpr std::string_view kOptions[] = {
      "-isystem", "-iquote", "-idirafter", "--include-path", "--system-include", "-I"};
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < flags.size(); ++i)
    for (const std::string_view option : kOptions)
      if (std::string_view flag = flags[i]; flag.starts_with(option)) {
        flag.remove_prefix(option.size());
        if (flag.starts_with('='))
          flag.remove_prefix(1);
        if (flag.empty() && i + 1 < flags.size())
          flag = flags[++i];
        if (!flag.empty())
          folders.push_back((directory / flag / "").lexically_normal().parent_path());
        break;
      }
  return folders;
}

std::set<fs::path> headersNamedBy(const fs::path &file, const std::vector<fs::path> &folders) {
  std::set<fs::path> found;
  std::vector<fs::path> open = {file};
  while (!open.empty()) {
    const fs::path includer = open.back();
    open.pop_back();
    const Result<std::string> text = readFile(includer);
    if (!text)
      continue;
    for (const IncludeDirective &include : includesIn(*text)) {
      const fs::path name = include.header.substr(1, include.header.size() - 2);
      std::vector<fs::path> places = {includer.parent_path()};
      places.insert(places.end(), folders.begin(), folders.end());
      for (const fs::path &place : places) {
        const fs::path header = (place / name).lexically_normal();
        std::error_code ignored;
        if (!fs::is_regular_file(header, ignored))
          continue;
        const bool isInside = std::ranges::any_of(
            folders, [&](const fs::path &folder) { return isBelow(header, folder); });
        if (isInside && found.insert(header).second)
          open.push_back(header);
        break;
      }
    }
  }
  return found;
}

} // namespace kopt
