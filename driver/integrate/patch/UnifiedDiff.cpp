// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/patch/UnifiedDiff.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

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

/// Every line of both texts, in order. Equal ends are taken off first: edits are small beside their
/// files.
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

/// As git quotes a path with quotes, backslashes, control or non-ASCII characters.
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

std::optional<std::string> unquotePath(std::string_view text) {
  if (text.empty() || text.front() != '"')
    return std::string(text);
  if (text.size() < 2 || text.back() != '"')
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      path += text[i];
      continue;
    }
    if (i + 1 >= text.size())
      return std::nullopt;
    const char next = text[i + 1];
    const auto octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (next >= '0' && next <= '7') {
      if (next > '3' || i + 3 >= text.size() || !octal(i + 2) || !octal(i + 3))
        return std::nullopt;
      path += static_cast<char>((next - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
      continue;
    }
    path += next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : next;
    ++i;
  }
  return path;
}

/// "1" or "1,4" of a hunk's header, from one.
struct HunkRange {
  std::size_t start = 0, count = 1;
};

std::optional<HunkRange> parseRange(std::string_view text) {
  HunkRange range;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, range.start);
  if (error != std::errc())
    return std::nullopt;
  if (rest != end && *rest == ',') {
    const auto second = std::from_chars(rest + 1, end, range.count);
    if (second.ec != std::errc())
      return std::nullopt;
    rest = second.ptr;
  }
  return rest == end ? std::optional(range) : std::nullopt;
}

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view withoutNewline(std::string_view line) {
  return !line.empty() && line.back() == '\n' ? line.substr(0, line.size() - 1) : line;
}

std::string shown(std::string_view line) {
  std::string text(withoutNewline(line));
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// Walks over a patch's lines; every failure names the line it stands on.
class DiffParser {
public:
  explicit DiffParser(std::string_view patch) : lines_(splitLines(patch)) {}

  Result<std::vector<FileDiff>> parse() {
    std::vector<FileDiff> diffs;
    while (next_ < lines_.size()) {
      if (!startsWith(lines_[next_], "diff --git ")) {
        ++next_;
        continue;
      }
      ++next_;
      KOPT_TRY(FileDiff diff, parseFile());
      diffs.push_back(std::move(diff));
    }
    if (diffs.empty())
      return makeError(ErrorCode::Usage, "the patch changes no file",
                       "give a patch that kopt wrote");
    return diffs;
  }

private:
  Result<FileDiff> parseFile() {
    FileDiff diff;
    while (next_ < lines_.size() && !startsWith(lines_[next_], "--- ")) {
      if (!startsWith(lines_[next_], "index "))
        return makeError(
            ErrorCode::Usage,
            fmt::format("line {} of the patch, \"{}\", is not a plain change of a file", next_ + 1,
                        shown(lines_[next_])),
            "apply this patch with git apply");
      ++next_;
    }
    if (next_ + 1 >= lines_.size() || !startsWith(lines_[next_ + 1], "+++ "))
      return damaged("the names of a file are missing");
    ++next_;
    std::string_view name = withoutNewline(lines_[next_++]).substr(4);
    if (!name.empty() && name.back() == '\t')
      name.remove_suffix(1);
    const std::optional<std::string> path = unquotePath(name);
    if (!path || !startsWith(*path, "b/"))
      return damaged("the name of a file is malformed");
    diff.path = path->substr(2);
    std::ptrdiff_t growth = 0;
    while (next_ < lines_.size() && startsWith(lines_[next_], "@@ -")) {
      KOPT_TRY(DiffHunk hunk, parseHunk());
      // Where the hunk is in the new file follows from the hunks before it; a header of a patch
      // that was edited by hand may say something else.
      if (growth < 0 && hunk.oldStart < std::size_t(-growth))
        return damaged("the hunks of a file are out of order");
      hunk.newStart = std::size_t(std::ptrdiff_t(hunk.oldStart) + growth);
      for (const DiffLine &line : hunk.lines)
        growth += line.kind == '+' ? 1 : line.kind == '-' ? -1 : 0;
      diff.hunks.push_back(std::move(hunk));
    }
    if (diff.hunks.empty())
      return damaged("a file has no hunks");
    return diff;
  }

  Result<DiffHunk> parseHunk() {
    const std::string_view header = lines_[next_];
    const std::size_t plus = header.find(" +"), close = header.find(" @@");
    if (plus == std::string_view::npos || close == std::string_view::npos || close < plus)
      return damaged("the header of a hunk is malformed");
    const auto oldRange = parseRange(header.substr(4, plus - 4));
    const auto newRange = parseRange(header.substr(plus + 2, close - plus - 2));
    const auto isRange = [](const auto &range) {
      return range && (range->start > 0 || range->count == 0);
    };
    if (!isRange(oldRange) || !isRange(newRange))
      return damaged("the header of a hunk is malformed");
    ++next_;
    DiffHunk hunk;
    // A range of no lines names the line before it.
    hunk.oldStart = oldRange->count == 0 ? oldRange->start : oldRange->start - 1;
    std::size_t oldLeft = oldRange->count, newLeft = newRange->count;
    while (oldLeft > 0 || newLeft > 0) {
      if (next_ >= lines_.size())
        return damaged("a hunk ends early");
      const std::string_view line = lines_[next_];
      const char kind = line.front();
      if ((kind != ' ' && kind != '-' && kind != '+') || (kind != '+' && oldLeft == 0) ||
          (kind != '-' && newLeft == 0))
        return damaged("a hunk does not have the lines its header announces");
      oldLeft -= kind != '+';
      newLeft -= kind != '-';
      hunk.lines.push_back({kind, std::string(line.substr(1))});
      ++next_;
      if (next_ < lines_.size() && lines_[next_].front() == '\\') {
        hunk.lines.back().text = withoutNewline(hunk.lines.back().text);
        ++next_;
      }
    }
    return hunk;
  }

  tl::unexpected<Error> damaged(const std::string &what) const {
    return makeError(ErrorCode::StaleInput,
                     fmt::format("the patch is damaged at its line {}: {}", next_ + 1, what),
                     "have kopt write it again");
  }

  Lines lines_;
  std::size_t next_ = 0;
};

} // namespace

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
    if (open && kept > 2 * kContext) { // too far for one hunk
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

std::string formatDiff(const FileDiff &diff) {
  if (diff.hunks.empty())
    return {};
  const std::string oldName = quotePath("a/" + diff.path), newName = quotePath("b/" + diff.path);
  // Without the tab, a name with a space would end there.
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

Result<std::vector<FileDiff>> parseDiffs(std::string_view patch) {
  return DiffParser(patch).parse();
}

Result<std::string> applyDiff(std::string_view before, const FileDiff &diff) {
  const Lines lines = splitLines(before);
  std::string after;
  std::size_t next = 0;
  for (const DiffHunk &hunk : diff.hunks) {
    if (hunk.oldStart < next || hunk.oldStart > lines.size())
      return makeError(ErrorCode::StaleInput,
                       fmt::format("the file has {} lines, but the patch changes line {}",
                                   lines.size(), hunk.oldStart + 1),
                       {}, diff.path);
    for (; next < hunk.oldStart; ++next)
      after += lines[next];
    for (const DiffLine &line : hunk.lines) {
      if (line.kind == '+') {
        after += line.text;
        continue;
      }
      if (next >= lines.size() || lines[next] != line.text)
        return makeError(ErrorCode::StaleInput,
                         next >= lines.size()
                             ? fmt::format("the file ends before line {}", next + 1)
                             : fmt::format("line {} is \"{}\", but the patch was made for \"{}\"",
                                           next + 1, shown(lines[next]), shown(line.text)),
                         {}, fmt::format("{}:{}", diff.path, next + 1));
      if (line.kind == ' ')
        after += lines[next];
      ++next;
    }
  }
  for (; next < lines.size(); ++next)
    after += lines[next];
  return after;
}

FileDiff invertDiff(const FileDiff &diff) {
  FileDiff inverse = diff;
  for (DiffHunk &hunk : inverse.hunks) {
    std::swap(hunk.oldStart, hunk.newStart);
    for (DiffLine &line : hunk.lines)
      line.kind = line.kind == '-' ? '+' : line.kind == '+' ? '-' : ' ';
  }
  return inverse;
}

} // namespace kopt
