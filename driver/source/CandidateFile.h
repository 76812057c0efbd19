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
};

/// Reads one candidate's file in the sandbox. `request` names that file and the baseline's flags;
/// `fallbackFlags` are added for a second try where the file does not compile without them. That a
/// candidate does not compile is an outcome; fails with Usage or Environment as
/// Frontend::extract().
Result<CandidateFile> readCandidateFile(Frontend &frontend, ExtractRequest request,
                                        const std::vector<std::string> &fallbackFlags);

/// What a file makes of a subject.
struct FileCandidate {
  Candidate candidate;
  std::string refusal; ///< why the file is not a candidate for this kernel; empty: it is one
};

/// The candidate that `changed` (extracted from the candidate's file) makes of `subject`: the text
/// of every editable declaration that differs, new device functions, constants, types and aliases
/// put before the kernel, and new values of named constants. Host code is not taken, nor are
/// variables. Refused where the file changes a type or an alias of the original. Fails with Usage
/// where the kernel is not in the file.
Result<FileCandidate> candidateFromFile(const TuneSubject &subject,
                                        const ExtractionResult &changed);

/// What the user's files include, as they spell it: "cstdint".
std::set<std::string> includesOf(const ExtractionResult &original);

/// What `changed` has in addition to that, and the candidate does not get, as the end of a reason;
/// empty where there is nothing. `included` is what the original includes: of that, a slice has
/// what its kernel needs, and small headers.
std::string notTaken(const TuneSubject &subject, const ExtractionResult &changed,
                     const std::set<std::string> &included);

} // namespace kopt
