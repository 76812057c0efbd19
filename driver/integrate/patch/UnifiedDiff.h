// SPDX-License-Identifier: Apache-2.0
// Unified diffs as git writes and reads them, without git: a GPU host may have none. Pure
// functions, no files.
#pragma once

#include "driver/support/Result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// One line of a hunk with its terminator, which the last line of a file may lack.
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

/// The change of one file with three lines of context; no hunks where the texts are equal. Bytes
/// are kept as they are: carriage returns, tabs, a missing newline at the end.
FileDiff diffTexts(std::string path, std::string_view before, std::string_view after);

/// The text that `git apply` takes; empty where there are no hunks.
std::string formatDiff(const FileDiff &diff);

/// Reads the diffs of modified files out of a patch or a mail; what stands before the first is
/// skipped. Fails with Usage on renames, new, deleted and binary files, and with StaleInput on a
/// damaged hunk, naming the line.
Result<std::vector<FileDiff>> parseDiffs(std::string_view patch);

/// Applies at exactly the recorded lines, without fuzz. Fails with StaleInput naming the first line
/// that differs.
Result<std::string> applyDiff(std::string_view before, const FileDiff &diff);

/// The diff that takes the change back.
FileDiff invertDiff(const FileDiff &diff);

} // namespace kopt
