// SPDX-License-Identifier: Apache-2.0
// A win as a change of the user's files: byte-range edits, applied whole or not at all, and the
// same as a diff that people and git read. None of it needs git.
#pragma once

#include "driver/model/Run.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kopt {

struct Patch {
  std::vector<FileEdits> files; ///< by path
  /// The diff alone: what `git apply` takes from inside the repository, or from the root where
  /// there is none.
  std::string text;
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

/// What would be done, or was.
struct AppliedFile {
  std::filesystem::path file;
  std::size_t linesAdded = 0, linesRemoved = 0;
};

/// Changes every one of the files under `root` or none. With `checkOnly` nothing is written. Fails
/// with StaleInput naming a file that is not the one that was tuned (or saying that the edits are
/// made already), with Usage for a file outside the root, and with Environment where a file cannot
/// be written; the files are then as they were.
Result<std::vector<AppliedFile>> applyPatch(const std::vector<FileEdits> &files,
                                            const std::filesystem::path &root,
                                            bool checkOnly = false);

} // namespace kopt
