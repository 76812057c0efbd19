// SPDX-License-Identifier: Apache-2.0
// Reads a candidate that a person wrote: a copy of the user's file, or of a slice, with changed
// device code.
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
  std::optional<Error> compileError; ///< why Clang could not compile it; then `extraction` is empty
  std::string hostChange; ///< the change of host code beside launches, as a refusal; empty: none
  /// Kernels for which the file opts in to large shared memory.
  std::set<std::string> largeShared;
};

/// Reads a candidate's file in the sandbox, as if it were in the place of `original`: it sees the
/// files that were read for the original, and the headers that it names in the original's folder
/// and its own, or below them. `request` names the candidate's file and the baseline's flags;
/// `fallbackFlags` are added for a second try if the file does not compile without them. A
/// candidate that does not compile is an outcome, not an error. Fails with Usage or Environment as
/// Frontend::extract() does.
Result<CandidateFile> readCandidateFile(Frontend &frontend, ExtractRequest request,
                                        const std::filesystem::path &original,
                                        const std::vector<std::string> &fallbackFlags);

/// The candidate that a file makes for a subject.
struct FileCandidate {
  Candidate candidate;
  std::string refusal; ///< why the file is refused for this kernel; empty: it is not
};

/// Makes the candidate for `subject`, which comes from `original`, from `changed`, which was
/// extracted from the candidate's file. The candidate has the text of every editable declaration
/// that differs; the declarations, macros and includes that its kernel needs and the baseline's
/// slice does not have; new values of named constants; and the launch (takeLaunch()). Other host
/// code is ignored. The file is refused if it changes a declaration that candidates may not edit,
/// or one that the original's kernel does not use, if it adds a variable that host code has to set,
/// or if its launch cannot be taken over. Fails with Usage if the kernel is not in the file.
Result<FileCandidate> candidateFromFile(const TuneSubject &subject,
                                        const ExtractionResult &original,
                                        const ExtractionResult &changed);
/// The same for a file that was read; also refused if it changes other host code.
Result<FileCandidate> candidateFromFile(const TuneSubject &subject,
                                        const ExtractionResult &original,
                                        const CandidateFile &file);

} // namespace kopt
