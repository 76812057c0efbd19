// SPDX-License-Identifier: Apache-2.0
// `kopt trial`: evaluates replacements that a person wrote, each in full.
#pragma once

#include "driver/app/Workbench.h"

namespace kopt {

struct TrialRequest : KernelRequest { ///< of exactly one file
  /// Each is the file or its slice, with the kernel's device code changed.
  std::vector<std::filesystem::path> candidates{};
  JudgeOptions options{};
};

/// The outcome of a candidate for one specialization.
struct TrialOutcome {
  std::string label;
  DeviceInfo device;
  std::vector<SandboxLayer> sandbox; ///< the sandbox around the candidate
  Trial baseline, trial;
  /// Of a version that keeps the original where a refused candidate is wrong, and its patch; the
  /// verdict of the file as it was handed in stays `trial`.
  std::optional<Trial> repaired{};
  std::string repairPatch{};
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

/// Replaces lines of the slice in the trial's texts by lines of the user's files, as its patch
/// leaves them, or of the file that it came from.
Status tellUserLines(const TuneSubject &subject, const std::filesystem::path &file, Trial &trial);

/// Returns one result for each candidate, in the order of the request; candidates of one kernel are
/// judged one after another. Fails with Usage (no such file or kernel), BaselineFailed, StaleInput
/// (a trace of another program) or Environment. A problem of a candidate is its verdict, not a
/// failure.
Result<std::vector<CandidateTrials>> runTrials(Services services, const TrialRequest &request);

} // namespace kopt
