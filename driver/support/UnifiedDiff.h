// SPDX-License-Identifier: Apache-2.0
// Unified diffs as git writes them, but without git, which a GPU host may not have. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// One line of a hunk with its line terminator, which the last line of a file may lack.
struct DiffLine {
  char kind = ' '; ///< ' ' kept, '-' removed, '+' added
  std::string text;
};

struct DiffHunk {
  std::size_t oldStart = 0, newStart = 0; ///< index of the first line, from 0
  std::vector<DiffLine> lines;
};

struct FileDiff {
  std::string path; ///< with forward slashes, relative to the root of the patch
  std::vector<DiffHunk> hunks;
};

/// Elements that became others: [oldBegin, oldEnd) of `before`, [newBegin, newEnd) of `after`.
struct Change {
  std::size_t oldBegin = 0, oldEnd = 0, newBegin = 0, newEnd = 0;
};
/// The fewest changes that make `after` of `before`, in order, with something kept between them;
/// one change of everything if that takes too long to find.
std::vector<Change> changesBetween(const std::vector<std::string_view> &before,
                                   const std::vector<std::string_view> &after);

/// The change of one file with three lines of context; no hunks if the texts are equal. Bytes are
/// kept unchanged: carriage returns, tabs, a missing newline at the end.
FileDiff diffTexts(std::string path, std::string_view before, std::string_view after);

struct LineCounts {
  std::size_t added = 0, removed = 0;
};
LineCounts countLines(const FileDiff &diff);

/// The diff as text for `git apply`; empty if there are no hunks.
std::string formatDiff(const FileDiff &diff);

} // namespace kopt
