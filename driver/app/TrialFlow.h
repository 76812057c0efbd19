// SPDX-License-Identifier: Apache-2.0
// `kopt trial`: one full evaluation of a replacement that a person wrote.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/workload/observed/TraceFolder.h"

#include <set>

namespace kopt {

struct TrialRequest {
  SourceSettings sources;     ///< of the baseline: exactly one file
  SelectionRequest selection; ///< of the kernel, and clauses of kopt.toml
  std::vector<std::filesystem::path>
      candidates; ///< each the file, or its slice, with the kernel's device code changed
  DeviceConfig device;
  SandboxMode sandbox = SandboxMode::Auto;
  JudgeOptions options;
  std::string run; ///< command whose launches are the workload; empty: the declared launches are
  std::filesystem::path root; ///< .kopt/ lives here
};

struct TrialOutcome {
  std::string label;
  std::filesystem::path candidate;
  DeviceInfo device;
  std::vector<SandboxLayer> sandbox; ///< what held the candidate in
  Trial baseline, trial;
};

/// The candidate that `changed` (extracted from the candidate's file) makes of `subject`: the text
/// of every editable declaration that differs, new device functions, constants, types and aliases
/// put before the kernel, and new values of named constants. Host code is not taken, nor are
/// variables. Fails with Usage where the kernel is not in it, with StaleInput where it has another
/// type or alias of a name that the original has.
Result<Candidate> candidateFromFile(const TuneSubject &subject, const ExtractionResult &changed);

/// What the user's files include, as they spell it: "cstdint".
std::set<std::string> includesOf(const ExtractionResult &original);

/// What `changed` has beside that, and the candidate does without, as the end of a reason; empty
/// where there is nothing. `included` is what the original includes: of that a slice has what its
/// kernel needs, and small headers.
std::string notTaken(const TuneSubject &subject, const ExtractionResult &changed,
                     const std::set<std::string> &included);

/// What the front end finds in the file of a candidate, with the flags of the baseline. Where those
/// name no GPU to build for, and nvcc's own choice does not have what the candidate uses, it is
/// read for `arch`, which it is built for (empty: the device's). `folder` is a name in the scratch
/// folder.
Result<ExtractionResult> extractCandidate(Workbench &bench, const SourceSettings &sources,
                                          const std::filesystem::path &file,
                                          const std::string &arch, const std::string &folder);

/// The program's own launches where it was observed, with those held out; else the declared ones.
Result<Workload> workloadOf(Services &services, const Workbench &bench, const TuneSubject &subject,
                            const std::optional<ObservedTrace> &observed,
                            std::vector<Launch> &heldOut);

/// A faster trial on launches that it was not found on: where it is wrong, fails or is slower
/// there, that becomes its verdict. The weights of `workload` and what else it says hold for
/// `heldOut` too.
Status judgeHeldOut(Workbench &bench, const TuneSubject &subject, Workload workload,
                    std::vector<Launch> heldOut, JudgeOptions options, Trial &trial);

/// One outcome per specialization of the kernel and candidate; candidates of one kernel are judged
/// one after the other.
Result<std::vector<TrialOutcome>> runTrials(Services services, const TrialRequest &request);

} // namespace kopt
