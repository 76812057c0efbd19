// SPDX-License-Identifier: Apache-2.0
#include "driver/support/UnifiedDiff.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace kopt {

namespace {

constexpr std::size_t kContext = 3;
/// Beyond this many differing lines a minimal script is not worth its quadratic cost.
constexpr std::size_t kMaxScript = 2000;

using Lines = std::vector<std::string_view>;

Lines splitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

std::vector<DiffLine> replaceAll(const Lines &before, const Lines &after) {
  std::vector<DiffLine> script;
  for (const std::string_view line : before)
    script.push_back({'-', std::string(line)});
  for (const std::string_view line : after)
    script.push_back({'+', std::string(line)});
  return script;
}

/// Shortest edit script after Myers (1986): reach[k] is how far down `before` diagonal k has come.
std::vector<DiffLine> shortestScript(const Lines &before, const Lines &after) {
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(before.size());
  const std::ptrdiff_t m = static_cast<std::ptrdiff_t>(after.size());
  const std::ptrdiff_t limit = std::min<std::ptrdiff_t>(n + m, kMaxScript);
  std::vector<std::ptrdiff_t> reach(2 * limit + 3, 0);
  const std::ptrdiff_t middle = limit + 1;
  std::vector<std::vector<std::ptrdiff_t>> history; ///< reach of diagonals -d..d before step d
  std::ptrdiff_t steps = -1;
  for (std::ptrdiff_t d = 0; d <= limit && steps < 0; ++d) {
    history.emplace_back(reach.begin() + (middle - d - 1), reach.begin() + (middle + d + 2));
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      const bool down = k == -d || (k != d && reach[middle + k - 1] < reach[middle + k + 1]);
      std::ptrdiff_t x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      while (x < n && x - k < m && before[x] == after[x - k])
        ++x;
      reach[middle + k] = x;
      if (x >= n && x - k >= m) {
        steps = d;
        break;
      }
    }
  }
  if (steps < 0)
    return replaceAll(before, after);

  std::vector<DiffLine> script; // last line first
  std::ptrdiff_t x = n, y = m;
  for (std::ptrdiff_t d = steps; d >= 0; --d) {
    const auto at = [&](std::ptrdiff_t k) { return history[d][k + d + 1]; };
    const std::ptrdiff_t k = x - y;
    const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
    const std::ptrdiff_t fromX = d == 0 ? 0 : down ? at(k + 1) : at(k - 1);
    const std::ptrdiff_t fromY = d == 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    const std::ptrdiff_t startX = d == 0 ? 0 : down ? fromX : fromX + 1;
    for (; x > startX; --x, --y)
      script.push_back({' ', std::string(before[x - 1])});
    if (d == 0)
      break;
    if (down)
      script.push_back({'+', std::string(after[fromY])});
    else
      script.push_back({'-', std::string(before[fromX])});
    x = fromX;
    y = fromY;
  }
  std::reverse(script.begin(), script.end());
  return script;
}

/// Every line of both texts, in order. Equal beginnings and ends are removed first, because edits
/// are small compared with files.
std::vector<DiffLine> editScript(const Lines &before, const Lines &after) {
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(before.size(), after.size());
  while (head < shorter && before[head] == after[head])
    ++head;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  std::vector<DiffLine> script;
  for (std::size_t i = 0; i < head; ++i)
    script.push_back({' ', std::string(before[i])});
  for (DiffLine &line : shortestScript(Lines(before.begin() + head, before.end() - tail),
                                       Lines(after.begin() + head, after.end() - tail)))
    script.push_back(std::move(line));
  for (std::size_t i = before.size() - tail; i < before.size(); ++i)
    script.push_back({' ', std::string(before[i])});
  return script;
}

/// Quotes a path as git does if it has quotes, backslashes, control or non-ASCII characters.
std::string quotePath(const std::string &path) {
  const auto special = [](unsigned char c) {
    return c < 0x20 || c >= 0x7f || c == '"' || c == '\\';
  };
  if (std::none_of(path.begin(), path.end(), special))
    return path;
  std::string quoted = "\"";
  for (const unsigned char c : path) {
    if (c == '"' || c == '\\')
      quoted += fmt::format("\\{}", static_cast<char>(c));
    else if (special(c))
      quoted += fmt::format("\\{:03o}", c);
    else
      quoted += static_cast<char>(c);
  }
  return quoted + "\"";
}

} // namespace

std::vector<Change> changesBetween(const std::vector<std::string_view> &before,
                                   const std::vector<std::string_view> &after) {
  std::vector<Change> changes;
  std::size_t old = 0, now = 0;
  bool isKept = true;
  for (const DiffLine &line : editScript(before, after)) {
    if (line.kind != ' ' && isKept)
      changes.push_back({old, old, now, now});
    isKept = line.kind == ' ';
    old += line.kind != '+';
    now += line.kind != '-';
    if (!isKept)
      std::tie(changes.back().oldEnd, changes.back().newEnd) = std::tuple(old, now);
  }
  return changes;
}

FileDiff diffTexts(std::string path, std::string_view before, std::string_view after) {
  const std::vector<DiffLine> script = editScript(splitLines(before), splitLines(after));
  FileDiff diff{std::move(path), {}};
  std::size_t oldLine = 0, newLine = 0,
              kept = kContext; // kept: unchanged lines since the last change
  bool open = false;
  for (std::size_t i = 0; i < script.size(); ++i) {
    const DiffLine &line = script[i];
    if (line.kind != ' ' && !open) {
      const std::size_t context = std::min({kContext, oldLine, newLine, kept});
      diff.hunks.push_back({oldLine - context, newLine - context, {}});
      diff.hunks.back().lines.assign(script.begin() + (i - context), script.begin() + i);
      open = true;
    }
    if (open)
      diff.hunks.back().lines.push_back(line);
    kept = line.kind == ' ' ? kept + 1 : 0;
    if (open && kept > 2 * kContext) { // too far from the next change for one hunk
      diff.hunks.back().lines.resize(diff.hunks.back().lines.size() - (kept - kContext));
      open = false;
    }
    oldLine += line.kind != '+';
    newLine += line.kind != '-';
  }
  if (open && kept > kContext)
    diff.hunks.back().lines.resize(diff.hunks.back().lines.size() - (kept - kContext));
  return diff;
}

LineCounts countLines(const FileDiff &diff) {
  LineCounts counts;
  for (const DiffHunk &hunk : diff.hunks)
    for (const DiffLine &line : hunk.lines) {
      counts.added += line.kind == '+';
      counts.removed += line.kind == '-';
    }
  return counts;
}

std::string formatDiff(const FileDiff &diff) {
  if (diff.hunks.empty())
    return {};
  const std::string oldName = quotePath("a/" + diff.path), newName = quotePath("b/" + diff.path);
  // Without the tab, a name would end at its first space.
  const char *end = diff.path.find(' ') == std::string::npos ? "" : "\t";
  std::string text = fmt::format("diff --git {} {}\n--- {}{}\n+++ {}{}\n", oldName, newName,
                                 oldName, end, newName, end);
  const auto range = [](std::size_t start, std::size_t count) {
    return count == 1 ? fmt::format("{}", start + 1)
                      : fmt::format("{},{}", count == 0 ? start : start + 1, count);
  };
  for (const DiffHunk &hunk : diff.hunks) {
    std::size_t oldCount = 0, newCount = 0;
    for (const DiffLine &line : hunk.lines) {
      oldCount += line.kind != '+';
      newCount += line.kind != '-';
    }
    text += fmt::format("@@ -{} +{} @@\n", range(hunk.oldStart, oldCount),
                        range(hunk.newStart, newCount));
    for (const DiffLine &line : hunk.lines) {
      text += line.kind;
      text += line.text;
      if (line.text.empty() || line.text.back() != '\n')
        text += "\n\\ No newline at end of file\n";
    }
  }
  return text;
}

} // namespace kopt
