// SPDX-License-Identifier: Apache-2.0
#include "driver/app/trial/TrialFlow.h"

#include "driver/app/ObserveFlow.h"
#include "driver/support/JobQueue.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <set>
#include <utility>

namespace kopt {

int severityOf(Verdict verdict) {
  static constexpr std::array kAccepted{Verdict::Faster, Verdict::Duplicate, Verdict::Same,
                                        Verdict::Ambiguous, Verdict::Slower};
  return int(std::ranges::find(kAccepted, verdict) - kAccepted.begin());
}

bool changesKernel(const CandidateFile &file, const TuneSubject &subject,
                   const ExtractionResult &original) {
  const auto made = candidateFromFile(subject, original, file.extraction);
  if (!made || !made->refusal.empty())
    return bool(made);
  return made->candidate.launch.changesGeometry() ||
         made->candidate.chunks.contains(subject.specialization.kernelChunk);
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
            return changesKernel(file, *subject, bench->extraction());
          }))
        selection.symbols->push_back(*added.insert(subject->specialization.symbol).first);
  if (added.empty())
    return bench;
  bench.reset(); // the device is free for the next
  KernelRequest others = request;
  others.selection = selection;
  KOPT_TRY(bench, Workbench::open(services, others, {0},
                                  [&](const ExtractionResult &, ProgramHost &, const ProveAhead &) {
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
    KOPT_TRY(observed, programTrace(services, bench->programs(), request.root, request.program,
                                    bench->subjects()));
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
    SubjectTrials trials(services, *bench, request.options, request.sources.buildDirectory,
                         *subject, observed, files);
    const bool isAdded = added.contains(subject->specialization.symbol);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (isInterrupted()) {
        results[i].outcomes.clear();
        continue;
      }
      if (isAdded && !changesKernel(files[i], *subject, bench->extraction()))
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
                         bench->layers(),
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
