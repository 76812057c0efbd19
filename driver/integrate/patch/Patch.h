// SPDX-License-Identifier: Apache-2.0
// Wins as a change of the user's files: edits of byte ranges, which are applied all or none, and
// the same change as a diff for people and git. None of it needs git.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/Run.h"
#include "driver/support/Result.h"
#include "driver/support/UnifiedDiff.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kopt {

struct Patch {
  std::vector<FileEdits> files; ///< by path
  /// Files that the edits depend on and do not change: `kopt apply` requires that they are the
  /// same.
  std::vector<FileEdits> others;
  /// The diff alone, for `git apply` in the repository, or in the root if there is no repository.
  std::string text;
  /// The files are of several git work trees, as of a project and its submodule.
  bool isOfSeveralTrees = false;
};

/// What nvcc has to compile files with besides their own options, by absolute path.
using FlagsOfFiles = std::map<std::string, std::vector<std::string>>;
/// Those of a candidate: its options are for the file that is compiled.
FlagsOfFiles flagsOf(const KernelSpec &kernel, const Candidate &candidate);

/// For people: what the file has to be compiled with, and the line of a CMakeLists.txt that says
/// so.
std::string flagsInWords(const std::string &path, const std::vector<std::string> &flags);

/// The folder that contains the projects of all `files`. The project of a file is the git work tree
/// that contains it; without one, the source folder of the CMake build folder `build`, or the
/// current directory, if one of these contains it; else its own folder.
std::filesystem::path patchRoot(const std::vector<std::filesystem::path> &files,
                                const std::filesystem::path &build = {});

/// `fileHashes` are the hashes of the file contents to which the ranges of the edits refer. Fails
/// with StaleInput, naming the file, if a file has changed since or its hash is not known; with
/// Usage for a file outside the root; with Internal if edits overlap. A patch without files means
/// that the edits change nothing. `others` are the hashes of files that the edits depend on.
Result<Patch> makePatch(const std::vector<SourceEdit> &edits,
                        const std::map<std::string, std::string> &fileHashes,
                        const std::filesystem::path &root,
                        const std::map<std::string, std::string> &others = {},
                        const FlagsOfFiles &flags = {});

struct PatchMessage {
  std::string subject; ///< "transpose: 2.9 times as fast on NVIDIA H200"
  std::string body;    ///< the evidence, for people
  std::string kernel;  ///< for the trailers, as are the next three
  std::string device, speedup, verifiedBy;
  /// In the format of mails, "Sat, 21 Nov 2026 15:00:00 +0000"; empty: left to git am.
  std::string date;
  std::string author = "kopt <kopt@localhost>";
};

/// The patch in the format of `git am`; where that does not take it as it is, "apply with" after
/// the message says what does. With trailers Kopt-Kernel, Kopt-Device, Kopt-Speedup,
/// Kopt-Verified-By and one Kopt-Source-Hash for each file. Names the flags that files need.
std::string formatMail(const Patch &patch, const PatchMessage &message);

/// What formatMail() says after "apply with"; empty if 'git am' takes the patch as it is.
std::string howToApply(const std::string &mail);

/// A change of a file that was made, or would be made.
struct AppliedFile {
  std::filesystem::path file;
  LineCounts lines;
  std::vector<std::string> flags{}; ///< that nvcc has to compile it with as well
};

/// Changes all of the files under `root`, or none. If some of them are changed already, because a
/// kill interrupted an earlier call, changes the others. With `checkOnly`, writes nothing. Fails
/// with StaleInput, naming the file, if a file or one that it depends on is not the one that was
/// tuned, or if all already have the edits; with Usage for a file outside the root; and with
/// Environment if a file cannot be written. On failure the files are unchanged.
Result<std::vector<AppliedFile>> applyPatch(const std::vector<FileEdits> &files,
                                            const std::filesystem::path &root,
                                            bool checkOnly = false);

} // namespace kopt
