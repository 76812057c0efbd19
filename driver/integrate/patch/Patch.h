// SPDX-License-Identifier: Apache-2.0
// A win as a patch of the user's files: made from byte-range edits, mailed with its evidence,
// applied whole or not at all. git reads what is written here, but none of it needs git.
#pragma once

#include "driver/integrate/patch/UnifiedDiff.h"
#include "driver/model/KernelSpec.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

struct Patch {
  std::filesystem::path root; ///< the diffs' paths start here
  std::vector<FileDiff> files;
  std::map<std::string, std::string>
      baseHashes; ///< XXH3-128 of each file before the change, by its path in the diff
  /// The diff alone: what `git apply` takes from inside the repository, or from `root` where there
  /// is none.
  std::string text() const;
};

/// The top of the git repository that `path` lies in, or else the folder itself (a file's folder).
std::filesystem::path patchRoot(const std::filesystem::path &path);

/// `fileHashes` are of the files as the edits' ranges were taken from them. Fails with StaleInput
/// naming a file that changed since or whose hash is not known, with Usage for a file outside the
/// root, with Internal on overlapping edits. A patch without files means the edits change nothing.
Result<Patch> makePatch(const std::vector<SourceEdit> &edits,
                        const std::map<std::string, std::string> &fileHashes,
                        const std::filesystem::path &root);

struct PatchMessage {
  std::string subject; ///< "transpose: 2.9 times as fast on NVIDIA H200"
  std::string body;    ///< the evidence, for people
  std::string kernel;  ///< of the trailers, as are the next three
  std::string device, speedup, verifiedBy;
  std::string date; ///< as in a mail, "Sat, 21 Nov 2026 15:00:00 +0000"; empty: left to git am
  std::string author = "kopt <kopt@localhost>";
};

/// The patch in the form that `git am` takes (`git am --keep-cr` for files with carriage returns),
/// with trailers Kopt-Kernel, Kopt-Device, Kopt-Speedup, Kopt-Verified-By and one Kopt-Source-Hash
/// for each file.
std::string formatMail(const Patch &patch, const PatchMessage &message);

/// Reads what formatMail() or Patch::text() wrote. Fails as parseDiffs() does.
Result<Patch> parsePatch(std::string_view text, const std::filesystem::path &root);

/// What would be done, or was.
struct AppliedFile {
  std::filesystem::path file;
  std::size_t linesAdded = 0, linesRemoved = 0;
};

/// Changes every file of the patch or none. With `checkOnly` nothing is written. Fails with
/// StaleInput naming the file and line where it no longer fits (or saying that it is applied
/// already), and with Environment where a file cannot be written; the files are then as they were.
Result<std::vector<AppliedFile>> applyPatch(const Patch &patch, bool checkOnly = false);

} // namespace kopt
