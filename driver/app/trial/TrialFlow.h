// SPDX-License-Identifier: Apache-2.0
// `kopt trial`: evaluates replacements that a person wrote, each in full.
#pragma once

#include "driver/app/trial/SubjectTrials.h"

namespace kopt {

struct TrialRequest : KernelRequest { ///< of exactly one file
  /// Each is the file or its slice, with the kernel's device code changed.
  std::vector<std::filesystem::path> candidates{};
  JudgeOptions options{};
};

struct CandidateTrials {
  std::filesystem::path candidate;
  /// One for each specialization of the kernel; none if the user interrupted kopt before the last.
  std::vector<TrialOutcome> outcomes;
  /// The outcome with the most severe verdict; there must be one.
  const TrialOutcome &worst() const;
};

/// The severity of a verdict, for choosing the worst among specializations: a gain is 0, any
/// refusal or failure has the highest value.
int severityOf(Verdict verdict);

/// True if a candidate's file changes the text of a kernel or how it is launched.
bool changesKernel(const CandidateFile &file, const TuneSubject &subject,
                   const ExtractionResult &original);

/// Returns one result for each candidate, in the order of the request; candidates of one kernel are
/// judged one after another. Fails with Usage (no such file or kernel), BaselineFailed, StaleInput
/// (a trace of another program) or Environment. A problem of a candidate is its verdict, not a
/// failure.
Result<std::vector<CandidateTrials>> runTrials(Services services, const TrialRequest &request);

} // namespace kopt
