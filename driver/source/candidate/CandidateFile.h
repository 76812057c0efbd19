// SPDX-License-Identifier: Apache-2.0
// A candidate that a person wrote: a copy of the user's file, or of a slice, with the kernel's
// device code changed.
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/source/Frontend.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// What the front end found in a candidate's file.
struct CandidateFile {
  std::filesystem::path path;
  ExtractionResult extraction;
  std::optional<Error> compileError; ///< why Clang could not compile it; then nothing was extracted
  std::string hostChange; ///< what it changes of host code beside launches; empty: nothing
  /// Kernels for which it opts in to large shared memory.
  std::set<std::string> largeShared;
};

/// Reads one candidate's file in the sandbox, as if it lay in the place of `original`: it sees what
/// was read for the original, and the headers that it names below the original's folder and its
/// own. `request` names that file and the baseline's flags; `fallbackFlags` are added for a second
/// try where the file does not compile without them. That a candidate does not compile is an
/// outcome; fails with Usage or Environment as Frontend::extract().
Result<CandidateFile> readCandidateFile(Frontend &frontend, ExtractRequest request,
                                        const std::filesystem::path &original,
                                        const std::vector<std::string> &fallbackFlags);

/// What a file makes of a subject.
struct FileCandidate {
  Candidate candidate;
  std::string refusal; ///< why the file is not a candidate for this kernel; empty: it is one
};

/// The candidate that `changed` (extracted from the candidate's file) makes of `subject`, which is
/// of `original`: the text of every editable declaration that differs; declarations, macros and
/// includes that its kernel needs and the baseline's slice does not have; new values of named
/// constants; and the launch (takeLaunch()). Other host code is not taken. Refused where the file
/// changes a declaration that the kernel did not use, a type or an alias, where it brings a
/// variable that host code has to set, and where it launches in a way that cannot be taken. Fails
/// with Usage where the kernel is not in the file.
Result<FileCandidate> candidateFromFile(const TuneSubject &subject,
                                        const ExtractionResult &original,
                                        const ExtractionResult &changed);
/// The same of a file; refused where it changes other host code.
Result<FileCandidate> candidateFromFile(const TuneSubject &subject,
                                        const ExtractionResult &original,
                                        const CandidateFile &file);

} // namespace kopt
