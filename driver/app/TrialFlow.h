// SPDX-License-Identifier: Apache-2.0
// `kopt trial`: one full evaluation of each replacement that a person wrote.
#pragma once

#include "driver/app/Workbench.h"

namespace kopt {

struct TrialRequest {
  SourceSettings sources;     ///< of the baseline: exactly one file
  SelectionRequest selection; ///< of the kernel, and clauses of kopt.toml
  std::vector<std::filesystem::path>
      candidates; ///< each the file, or its slice, with the kernel's device code changed
  DeviceConfig device;
  SandboxMode sandbox = SandboxMode::Auto;
  JudgeOptions options;
  std::string
      program; ///< command whose launches are the workload; empty: the declared launches are
  std::filesystem::path root; ///< .kopt/ lives here
};

/// A candidate on one specialization.
struct TrialOutcome {
  std::string label;
  DeviceInfo device;
  std::vector<SandboxLayer> sandbox; ///< what held the candidate in
  Trial baseline, trial;
};

struct CandidateTrials {
  std::filesystem::path candidate;
  std::vector<TrialOutcome> outcomes; ///< one per specialization of the kernel
  /// The outcome with the most severe verdict.
  const TrialOutcome &worst() const;
};

/// Severity order used to choose the worst verdict across specializations: a gain is 0, any refusal
/// or failure the highest.
int severityOf(Verdict verdict);

/// One result per candidate, in the order of the request; candidates of one kernel are judged one
/// after the other. Fails with Usage (no such file or kernel), BaselineFailed, StaleInput (a trace
/// of another program) or Environment; whatever is wrong with a candidate is its verdict.
Result<std::vector<CandidateTrials>> runTrials(Services services, const TrialRequest &request);

} // namespace kopt
