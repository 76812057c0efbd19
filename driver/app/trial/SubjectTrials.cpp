// SPDX-License-Identifier: Apache-2.0
#include "driver/app/trial/SubjectTrials.h"

#include "driver/integrate/patch/Patch.h"
#include "driver/judge/HeldOut.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/search/Confirmation.h"
#include "driver/search/proposers/TwoBodies.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SliceLines.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/observed/SubjectWorkload.h"

#include <fmt/format.h>
#include <utility>

namespace kopt {
namespace {

Trial notCompiled(const Error &error) {
  Trial trial;
  trial.verdict = Verdict::BuildFailed;
  trial.stage = Stage::Build;
  trial.reason = error.what;
  trial.buildLog = error.where.empty() ? error.what : error.where + ": error: " + error.what;
  return trial;
}

/// Judges a win again, with the checks that only wins have to pass, and times it in several fresh
/// processes. The result replaces the trial.
Status confirmWin(Judge &judge, Trial &trial) {
  KOPT_TRY(Trial confirmed, judge.judge(trial.candidate, Purpose::Confirmation));
  confirmed.findings.push_back(
      {"first-look", Severity::Note, "before that was confirmed: " + trial.reason, ""});
  for (const auto &[stage, seconds] : trial.stages)
    confirmed.stages[stage] += seconds;
  confirmed.seconds += trial.seconds;
  trial = std::move(confirmed);
  return {};
}

/// Adds a finding with the launch that the candidate's file gives the kernel, in terms of its
/// parameters and the changed constants.
void noteLaunch(const Candidate &candidate, Trial &trial) {
  if (const std::vector<std::string> parts = partsOf(candidate); !parts.empty())
    trial.findings.push_back(
        {"launch", Severity::Note, "judged as its own file launches it: " + join(parts, ", "), ""});
}

} // namespace

Trial refused(const std::string &reason) {
  Trial trial;
  trial.verdict = Verdict::Rejected;
  trial.stage = Stage::Screen;
  trial.check = CheckId::Screen;
  trial.reason = reason;
  return trial;
}

Result<TrialOutcome> SubjectTrials::judge(const CandidateFile &file, Stage upTo) {
  TrialOutcome outcome;
  outcome.label = subject_.label;
  outcome.device = bench_.device();
  outcome.sandbox = bench_.layers();
  if (file.compileError) {
    outcome.trial = notCompiled(*file.compileError);
    return outcome;
  }
  KOPT_CHECK(begin());
  outcome.baseline = baseline_;
  KOPT_TRY(const FileCandidate made, candidateOf(file));
  if (!made.refusal.empty()) {
    outcome.trial = refused(made.refusal);
    return outcome;
  }
  const LoggedStage logged(fmt::format("{}: judge {}", subject_.label, made.candidate.title));
  services_.terminal.status(
      fmt::format("{}: judging {}", subject_.label, file.path.filename().string()));
  KOPT_TRY(outcome.trial, judged(made.candidate, file, upTo));
  if (upTo >= Stage::Time)
    KOPT_CHECK(repair(made.candidate, file, outcome));
  return outcome;
}

Result<Trial> SubjectTrials::judged(const Candidate &candidate, const CandidateFile &file,
                                    Stage upTo) {
  KOPT_TRY(Trial trial, judge_->judge(candidate, Purpose::Search, upTo));
  if (trial.verdict == Verdict::Faster)
    KOPT_CHECK(confirmWin(*judge_, trial));
  if (trial.verdict == Verdict::Faster)
    KOPT_CHECK(judge_->addCounters(trial));
  trial.reason += whatVanished(baseline_, trial);
  KOPT_CHECK(tellUserLines(subject_, file.path, trial));
  noteLaunch(candidate, trial);
  addLaunchSiteNotes(trial);
  return trial;
}

/// Judges a candidate that was refused on derived launches again, behind a condition that keeps
/// the original there. Each refusal adds to the condition.
Status SubjectTrials::repair(const Candidate &candidate, const CandidateFile &file,
                             TrialOutcome &outcome) {
  std::vector<Trial> trials{outcome.trial};
  const DeviceInfo device = bench_.device();
  const SearchProblem problem{subject_.kernel, subject_.specialization, workload_.workload,
                              subject_.sliceText, device};
  for (auto open = repairables(trials); !open.empty(); open = repairables(trials)) {
    KOPT_TRY(const auto made, repaired(bench_.frontend(), problem, candidate, open.front().wrong,
                                       open.front().right));
    if (!made)
      return {};
    const LoggedStage logged(fmt::format("{}: judge {}", subject_.label, made->title));
    KOPT_TRY(Trial trial, judged(*made, file, Stage::Time));
    trials.push_back(trial);
    outcome.repaired = std::move(trial);
  }
  if (!outcome.repaired)
    return {};
  const auto edits =
      writeBackEdits(subject_.kernel, subject_.specialization, outcome.repaired->candidate);
  if (!edits)
    return {};
  KOPT_TRY(const Patch patch, makePatch(*edits, bench_.extraction().fileHashes,
                                        patchRoot({subject_.kernel.file}, buildDirectory_)));
  outcome.repairPatch = patch.text;
  return {};
}

Result<FileCandidate> SubjectTrials::candidateOf(const CandidateFile &file) const {
  KOPT_TRY(FileCandidate made, candidateFromFile(subject_, bench_.extraction(), file));
  if (made.refusal.empty() && observed_) // otherwise the judge checks the clauses
    made.refusal = brokenClause(subject_.declaration, subject_.kernel, workload_.workload.launches,
                                made.candidate)
                       .value_or(std::string());
  made.candidate.title = file.path.stem().string();
  return made;
}

/// Measures the baseline. The candidates are compiled from then on, while others are judged.
Status SubjectTrials::begin() {
  if (judge_)
    return {};
  const LoggedStage logged(subject_.label + ": measure the baseline");
  KOPT_TRY(workload_, workloadOf(subject_, observed_, bench_.device().kind));
  for (const std::string &note : workload_.notes)
    services_.terminal.line(note);
  notRun_ = sitesNotRun(subject_.kernel, subject_.specialization, workload_.workload);
  JudgeOptions own = options_;
  own.programSeconds = workload_.programSeconds;
  own.confirmsNext = true;
  KOPT_TRY(std::unique_ptr<Judge> local,
           bench_.makeJudge(subject_, workload_.workload, own,
                            subject_.specialization.symbol.substr(0, 100)));
  auto judge = std::make_unique<HeldOutJudge>(
      std::move(local), workload_.heldOut, own,
      [this](const Workload &heldOut, const JudgeOptions &options) {
        return bench_.makeJudge(subject_, heldOut, options, "held-out");
      });
  KOPT_TRY(const Baseline baseline, judge->baseline().map_error([&](Error error) {
    error.what = inUserLines(subject_.specialization, subject_.sliceText, error.what);
    return error;
  }));
  baseline_ = baseline.trial;
  std::vector<Candidate> candidates;
  for (const CandidateFile &file : soon_)
    if (!file.compileError) {
      KOPT_TRY(FileCandidate made, candidateOf(file));
      if (made.refusal.empty())
        candidates.push_back(std::move(made.candidate));
    }
  judge->begin(candidates);
  judge_ = std::move(judge);
  return {};
}

void SubjectTrials::addLaunchSiteNotes(Trial &trial) const {
  for (const Finding &finding : baseline_.findings)
    if (finding.id == "launch-site")
      trial.findings.push_back({finding.id, Severity::Note, finding.message, finding.where});
  for (const std::string &place : notRun_)
    trial.findings.push_back(
        {"launch-site", Severity::Note,
         "the kernel was not timed as it is launched here: no launch of the workload has that "
         "geometry ('sizes' says whether it could be verified there); --run takes the program's "
         "own launches",
         place});
}

Status tellUserLines(const TuneSubject &subject, const std::filesystem::path &file, Trial &trial) {
  KOPT_TRY(const RenderedSlice rendered, renderSlice(subject, trial.candidate));
  const auto lines = file.empty()
                         ? SliceLines::inPatchedFiles(rendered, subject.kernel,
                                                      subject.specialization, trial.candidate)
                         : SliceLines::make(rendered.text, rendered.chunks, subject.specialization,
                                            file.string(), rendered.declarations);
  if (!lines)
    return {}; // keep the lines of the slice, which are better than none
  trial.reason = lines->tell(trial.reason);
  for (Finding &finding : trial.findings) {
    finding.message = lines->tell(finding.message);
    finding.where = lines->tell(finding.where);
  }
  for (CheckRecord &record : trial.checks)
    record.detail = lines->tell(record.detail);
  for (AssuranceGap &gap : trial.assurance.gaps)
    gap.what = lines->tell(gap.what);
  return {};
}

} // namespace kopt
