// SPDX-License-Identifier: Apache-2.0
// Judges candidates of one kernel, each from a file that a person or an agent wrote.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <span>

namespace kopt {

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

/// The workload and the baseline are made when the first candidate compiles, or by begin(), and
/// kept.
class SubjectTrials {
public:
  /// All must outlive it. `soon`: candidates that will be judged, in this order.
  SubjectTrials(Services &services, Workbench &bench, const JudgeOptions &options,
                const std::filesystem::path &buildDirectory, const TuneSubject &subject,
                const std::optional<ObservedTrace> &observed,
                std::span<const CandidateFile> soon = {})
      : services_(services), bench_(bench), options_(options), buildDirectory_(buildDirectory),
        subject_(subject), observed_(observed), soon_(soon) {}

  /// Measures the baseline, once. Fails as Judge::baseline() and workloadOf() do.
  Status begin();
  const Workload &workload() const { return workload_.workload; } ///< after begin()
  const Trial &baseline() const { return baseline_; }             ///< after begin()

  /// A look ends after the stage `upTo` (Judge::judge()); a real trial confirms what is faster, and
  /// repairs what is wrong only on derived launches. A problem of the candidate is its verdict.
  Result<TrialOutcome> judge(const CandidateFile &file, Stage upTo = Stage::Time);
  /// After begin(). Fails as candidateFromFile().
  Result<FileCandidate> candidateOf(const CandidateFile &file) const;

private:
  Result<Trial> judged(const Candidate &candidate, const CandidateFile &file, Stage upTo);
  Status repair(const Candidate &candidate, const CandidateFile &file, TrialOutcome &outcome);
  void addLaunchSiteNotes(Trial &trial) const;

  Services &services_;
  Workbench &bench_;
  const JudgeOptions &options_;
  const std::filesystem::path &buildDirectory_; ///< of the user's sources
  const TuneSubject &subject_;
  const std::optional<ObservedTrace> &observed_;
  std::span<const CandidateFile> soon_;
  SubjectWorkload workload_;
  std::vector<std::string> notRun_; ///< launch sites whose geometry is not in the workload
  std::unique_ptr<Judge> judge_;
  Trial baseline_;
};

/// The trial of a candidate that is refused before it is built.
Trial refused(const std::string &reason);

/// Replaces lines of the slice in the trial's texts by lines of the user's files, as its patch
/// leaves them, or of the file that it came from.
Status tellUserLines(const TuneSubject &subject, const std::filesystem::path &file, Trial &trial);

} // namespace kopt
