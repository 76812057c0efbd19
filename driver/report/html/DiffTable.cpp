// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/DiffTable.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace kopt::html {
namespace {

constexpr std::size_t kMostLines = 4000;

/// The bytes that two versions of a line have in common at the beginning and at the end.
struct Difference {
  std::size_t prefix = 0, suffix = 0;
};

bool isInsideCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

Difference differenceOf(const std::string &before, const std::string &after) {
  Difference result;
  const std::size_t shorter = std::min(before.size(), after.size());
  while (result.prefix < shorter && before[result.prefix] == after[result.prefix])
    ++result.prefix;
  while (result.prefix > 0 &&
         ((result.prefix < before.size() && isInsideCharacter(before[result.prefix])) ||
          (result.prefix < after.size() && isInsideCharacter(after[result.prefix]))))
    --result.prefix;
  while (result.suffix < shorter - result.prefix &&
         before[before.size() - 1 - result.suffix] == after[after.size() - 1 - result.suffix])
    ++result.suffix;
  while (result.suffix > 0 && isInsideCharacter(before[before.size() - result.suffix]))
    --result.suffix;
  return result;
}

struct Line {
  char kind = ' '; ///< as in the diff; '@' for the head of a hunk, 'f' for that of a file
  std::string text;
  std::size_t oldNumber = 0, newNumber = 0; ///< 0: none
  std::optional<Difference> difference{};   ///< to the line that it replaces or that replaces it
};

std::size_t numberAfter(const std::string &text, char sign) {
  const std::size_t at = text.find(sign);
  std::size_t number = 0;
  if (at != std::string::npos)
    std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
  return number;
}

std::vector<Line> readDiff(const std::string &diff) {
  std::vector<Line> lines;
  bool inHunk = false;
  std::size_t oldNumber = 0, newNumber = 0;
  for (std::string text : split(diff, '\n')) {
    if (text.ends_with('\r'))
      text.pop_back();
    if (text.starts_with("diff --git ")) {
      inHunk = false;
      const std::size_t name = text.rfind(" b/");
      lines.push_back({'f', name == std::string::npos ? text : text.substr(name + 3)});
    } else if (text.starts_with("@@ ")) {
      inHunk = true;
      oldNumber = numberAfter(text, '-');
      newNumber = numberAfter(text, '+');
      lines.push_back({'@', text});
    } else if (inHunk && text == "-- ") {
      break; // end of the mail
    } else if (inHunk && text.starts_with("+")) {
      lines.push_back({'+', text.substr(1), 0, newNumber++});
    } else if (inHunk && text.starts_with("-")) {
      lines.push_back({'-', text.substr(1), oldNumber++, 0});
    } else if (inHunk && text.starts_with(" ")) {
      lines.push_back({' ', text.substr(1), oldNumber++, newNumber++});
    }
  }
  return lines;
}

/// Pairs removed lines with the added lines that follow, as versions of each other.
void pairUp(std::vector<Line> &lines) {
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t removed = i;
    while (removed < lines.size() && lines[removed].kind == '-')
      ++removed;
    std::size_t added = removed;
    while (added < lines.size() && lines[added].kind == '+')
      ++added;
    if (removed == i) {
      ++i;
      continue;
    }
    // If more were added than removed, the first ones are more likely to be the new versions.
    for (std::size_t k = 0; k < std::min(removed - i, added - removed); ++k) {
      const Difference difference = differenceOf(lines[i + k].text, lines[removed + k].text);
      if (difference.prefix + difference.suffix == 0)
        continue;
      lines[i + k].difference = lines[removed + k].difference = difference;
    }
    i = added;
  }
}

void writeLine(Writer &writer, const Line &line) {
  if (line.kind == '@' || line.kind == 'f') {
    const auto row = writer.open("tr", {{"class", "where"}});
    writer.element("td", {{"colspan", "4"}}, line.text);
    return;
  }
  const auto row = writer.open("tr", {{"class", line.kind == '+'   ? "added"
                                                : line.kind == '-' ? "removed"
                                                                   : ""}});
  const auto number = [](std::size_t value) { return value == 0 ? "" : std::to_string(value); };
  writer.element("td", {{"class", "line"}}, number(line.oldNumber));
  writer.element("td", {{"class", "line"}}, number(line.newNumber));
  writer.element("td", {{"class", "sign"}}, std::string(1, line.kind));
  const auto cell = writer.open("td");
  if (!line.difference) {
    writer.text(line.text);
    return;
  }
  const auto [prefix, suffix] = *line.difference;
  const std::size_t middle = line.text.size() - prefix - suffix;
  writer.text(std::string_view(line.text).substr(0, prefix));
  if (middle > 0)
    writer.element("b", std::string_view(line.text).substr(prefix, middle));
  writer.text(std::string_view(line.text).substr(prefix + middle));
}

} // namespace

void writeDiff(Writer &writer, const std::string &diff) {
  std::vector<Line> lines = readDiff(diff);
  pairUp(lines);
  {
    const auto frame = writer.open("div", {{"class", "scroll"},
                                           {"tabindex", "0"},
                                           {"role", "region"},
                                           {"aria-label", "Changes of the source"}});
    const auto table = writer.open("table", {{"class", "diff"}});
    const auto body = writer.open("tbody");
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
      writeLine(writer, lines[i]);
  }
  if (lines.size() > kMostLines)
    writer.element("p", {{"class", "note"}},
                   fmt::format("{} more lines are in the patch.", lines.size() - kMostLines));
}

} // namespace kopt::html
