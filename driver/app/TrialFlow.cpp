// SPDX-License-Identifier: Apache-2.0
#include "driver/app/TrialFlow.h"

#include "driver/app/ObserveFlow.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/judge/HeldOut.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/search/Confirmation.h"
#include "driver/search/proposers/TwoBodies.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SliceLines.h"
#include "driver/support/JobQueue.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/observed/SubjectWorkload.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <set>
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

Trial refused(const std::string &reason) {
  Trial trial;
  trial.verdict = Verdict::Rejected;
  trial.stage = Stage::Screen;
  trial.check = CheckId::Screen;
  trial.reason = reason;
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

/// Judges candidates of one specialization. The workload and the baseline are made when the first
/// candidate compiles.
class SubjectTrials {
public:
  SubjectTrials(Services &services, Workbench &bench, const TrialRequest &request,
                const TuneSubject &subject, const std::optional<ObservedTrace> &observed,
                const std::vector<CandidateFile> &files)
      : services_(services), bench_(bench), request_(request), subject_(subject),
        observed_(observed), files_(files) {}

  Result<TrialOutcome> judge(const CandidateFile &file) {
    TrialOutcome outcome;
    outcome.label = subject_.label;
    outcome.device = bench_.device();
    outcome.sandbox = bench_.sandbox().layers();
    if (file.compileError) {
      outcome.trial = notCompiled(*file.compileError);
      return outcome;
    }
    if (!judge_)
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
    KOPT_TRY(outcome.trial, judged(made.candidate, file));
    KOPT_CHECK(repair(made.candidate, file, outcome));
    return outcome;
  }

private:
  Result<Trial> judged(const Candidate &candidate, const CandidateFile &file) {
    KOPT_TRY(Trial trial, judge_->judge(candidate, Purpose::Search));
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
  Status repair(const Candidate &candidate, const CandidateFile &file, TrialOutcome &outcome) {
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
      KOPT_TRY(Trial trial, judged(*made, file));
      trials.push_back(trial);
      outcome.repaired = std::move(trial);
    }
    if (!outcome.repaired)
      return {};
    const auto edits =
        writeBackEdits(subject_.kernel, subject_.specialization, outcome.repaired->candidate);
    if (!edits)
      return {};
    KOPT_TRY(const Patch patch,
             makePatch(*edits, bench_.extraction().fileHashes,
                       patchRoot({subject_.kernel.file}, request_.sources.buildDirectory)));
    outcome.repairPatch = patch.text;
    return {};
  }

  Result<FileCandidate> candidateOf(const CandidateFile &file) const {
    KOPT_TRY(FileCandidate made, candidateFromFile(subject_, bench_.extraction(), file));
    if (made.refusal.empty() && observed_) // otherwise the judge checks the clauses
      made.refusal = brokenClause(subject_.declaration, subject_.kernel,
                                  workload_.workload.launches, made.candidate)
                         .value_or(std::string());
    made.candidate.title = file.path.stem().string();
    return made;
  }

  /// Measures the baseline. The candidates are compiled from then on, while others are judged.
  Status begin() {
    const LoggedStage logged(subject_.label + ": measure the baseline");
    KOPT_TRY(workload_, workloadOf(subject_, observed_, bench_.device().kind));
    for (const std::string &note : workload_.notes)
      services_.terminal.line(note);
    notRun_ = sitesNotRun(subject_.kernel, subject_.specialization, workload_.workload);
    JudgeOptions own = request_.options;
    own.programSeconds = workload_.programSeconds;
    own.confirmsNext = true;
    KOPT_TRY(std::unique_ptr<Judge> local,
             bench_.makeJudge(subject_, workload_.workload, own,
                              subject_.specialization.symbol.substr(0, 100)));
    judge_ = std::make_unique<HeldOutJudge>(
        std::move(local), workload_.heldOut, own,
        [this](const Workload &heldOut, const JudgeOptions &options) {
          return bench_.makeJudge(subject_, heldOut, options, "held-out");
        });
    KOPT_TRY(const Baseline baseline, judge_->baseline().map_error([&](Error error) {
      error.what = inUserLines(subject_.specialization, subject_.sliceText, error.what);
      return error;
    }));
    baseline_ = baseline.trial;
    std::vector<Candidate> candidates;
    for (const CandidateFile &file : files_)
      if (!file.compileError) {
        KOPT_TRY(FileCandidate made, candidateOf(file));
        if (made.refusal.empty())
          candidates.push_back(std::move(made.candidate));
      }
    judge_->begin(candidates);
    return {};
  }

  void addLaunchSiteNotes(Trial &trial) const {
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

  Services &services_;
  Workbench &bench_;
  const TrialRequest &request_;
  const TuneSubject &subject_;
  const std::optional<ObservedTrace> &observed_;
  const std::vector<CandidateFile> &files_;
  SubjectWorkload workload_;
  std::vector<std::string> notRun_; ///< launch sites whose geometry is not in the workload
  std::unique_ptr<Judge> judge_;
  Trial baseline_;
};

} // namespace

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

int severityOf(Verdict verdict) {
  static constexpr std::array kAccepted{Verdict::Faster, Verdict::Duplicate, Verdict::Same,
                                        Verdict::Ambiguous, Verdict::Slower};
  return int(std::ranges::find(kAccepted, verdict) - kAccepted.begin());
}

const TrialOutcome &CandidateTrials::worst() const {
  return *std::ranges::max_element(
      outcomes, {}, [](const TrialOutcome &outcome) { return severityOf(outcome.trial.verdict); });
}

namespace {

/// Reads the candidates' files, several at a time.
Result<std::vector<CandidateFile>> readCandidates(Workbench &bench, const TrialRequest &request) {
  JobQueue readers(std::max(1u, request.options.buildThreads));
  std::vector<std::future<Result<CandidateFile>>> read;
  for (const std::filesystem::path &path : request.candidates) {
    read.push_back(
        readers.call([&, path] { return bench.readCandidate(path, request.options.arch); }));
  }
  std::vector<CandidateFile> files;
  for (std::future<Result<CandidateFile>> &one : read) {
    KOPT_TRY(CandidateFile file, one.get());
    files.push_back(std::move(file));
  }
  return files;
}

/// True if a candidate's file changes the text of a kernel or how it is launched.
bool changes(const CandidateFile &file, const TuneSubject &subject,
             const ExtractionResult &original) {
  const auto made = candidateFromFile(subject, original, file.extraction);
  if (!made || !made->refusal.empty())
    return bool(made);
  return made->candidate.launch.changesGeometry() ||
         made->candidate.chunks.contains(subject.specialization.kernelChunk);
}

/// Opens the bench for the kernels of the request and for the others that a candidate changes,
/// whose symbols `added` receives.
Result<std::unique_ptr<Workbench>> openBench(Services &services, const TrialRequest &request,
                                             std::vector<CandidateFile> &files,
                                             std::set<std::string> &added) {
  KOPT_TRY(std::unique_ptr<Workbench> bench, Workbench::open(services, request));
  KOPT_TRY(files, readCandidates(*bench, request));
  SelectionRequest selection = request.selection;
  selection.symbols.emplace();
  std::set<std::string> chosen;
  for (const TuneSubject &subject : bench->subjects()) {
    selection.symbols->push_back(subject.specialization.symbol);
    chosen.insert(subject.kernel.name);
  }
  for (const KernelInstance &instance : instancesIn(bench->extraction()))
    if (!chosen.contains(instance.kernel->name))
      if (const auto subject = makeSubject(bench->extraction(), instance, selection);
          subject && std::ranges::any_of(files, [&](const CandidateFile &file) {
            return changes(file, *subject, bench->extraction());
          }))
        selection.symbols->push_back(*added.insert(subject->specialization.symbol).first);
  if (added.empty())
    return bench;
  bench.reset(); // the device is free for the next
  KernelRequest others = request;
  others.selection = selection;
  KOPT_TRY(bench, Workbench::open(services, others, {0},
                                  [&](const ExtractionResult &, const ProveAhead &) {
                                    return KernelPlan{selection, true};
                                  }));
  for (const LeftOutKernel &left : bench->leftOut())
    services.terminal.line(fmt::format(
        "note: the candidate also changes {}, which is not judged: {}", left.label, left.reason));
  KOPT_TRY(files, readCandidates(*bench, request));
  return bench;
}

} // namespace

Result<std::vector<CandidateTrials>> runTrials(Services services, const TrialRequest &request) {
  std::vector<CandidateFile> files;
  std::set<std::string> added;
  KOPT_TRY(const std::unique_ptr<Workbench> bench, openBench(services, request, files, added));
  std::vector<CandidateTrials> results;
  for (const std::filesystem::path &path : request.candidates)
    results.push_back({path, {}});
  std::optional<ObservedTrace> observed;
  if (!request.program.empty()) {
    KOPT_TRY(observed, programTrace(services, request.root, request.program, bench->subjects()));
  }
  const auto isInterrupted = [&] { return services.interrupted && *services.interrupted; };
  // Of the instantiations of a template, those that the program launches are judged.
  std::vector<const TuneSubject *> judged, left;
  for (const TuneSubject &subject : bench->subjects())
    (!observed || isLaunched(*observed, subject.specialization) ? judged : left)
        .push_back(&subject);
  if (judged.empty())
    std::swap(judged, left);
  for (const TuneSubject *subject : left)
    services.terminal.line(
        fmt::format("note: {} is not judged: the program does not launch it", subject->label));
  for (const TuneSubject *subject : judged) {
    SubjectTrials trials(services, *bench, request, *subject, observed, files);
    const bool isAdded = added.contains(subject->specialization.symbol);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (isInterrupted()) {
        results[i].outcomes.clear();
        continue;
      }
      if (isAdded && !changes(files[i], *subject, bench->extraction()))
        continue;
      Result<TrialOutcome> outcome = trials.judge(files[i]);
      if (!outcome && outcome.error().code == ErrorCode::Interrupted) {
        results[i].outcomes.clear();
        continue;
      }
      if (!outcome && isAdded) // the request does not say how to launch it
        outcome =
            TrialOutcome{subject->label,
                         bench->device(),
                         bench->sandbox().layers(),
                         {},
                         refused(fmt::format(
                             "the candidate changes this kernel, too, which cannot be judged: {}",
                             outcome.error().what))};
      if (!outcome)
        return tl::unexpected(outcome.error());
      results[i].outcomes.push_back(std::move(*outcome));
    }
  }
  services.terminal.clear();
  return results;
}

} // namespace kopt
