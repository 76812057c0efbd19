// SPDX-License-Identifier: Apache-2.0
#include "driver/app/TrialFlow.h"
#include "driver/source/RenderSlice.h"

#include "driver/app/ObserveFlow.h"
#include "driver/device/build/NvccFlags.h"
#include "driver/source/SliceLines.h"
#include "driver/support/Text.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kopt {
namespace {

std::string textOf(const std::string &slice, const SliceChunk &chunk) {
  return slice.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin);
}

bool sameDeclaration(const SliceChunk &a, const SliceChunk &b) {
  return a.role == b.role && a.name == b.name;
}

/// What a candidate may bring along beside what it may change.
bool isAddition(const SliceChunk &chunk) {
  return chunk.editable || chunk.role == "type" || chunk.role == "alias";
}

/// The chunk's text in the namespaces that it has in its file and the kernel, which it is put
/// before, has not.
std::string inItsNamespaces(const std::string &text, const SliceChunk &chunk,
                            const Specialization &from, const std::string &kernel) {
  if (chunk.role == "macro")
    return text;
  const auto isType = [&](const std::string &name) {
    return std::any_of(from.chunks.begin(), from.chunks.end(), [&](const SliceChunk &other) {
      return other.role == "type" && other.name == name;
    });
  };
  std::string rest = chunk.name, opening, closing;
  for (std::size_t end = kernel.find("::"); end != kernel.npos; end = kernel.find("::", end + 2))
    if (chunk.name.starts_with(kernel.substr(0, end + 2)))
      rest = chunk.name.substr(end + 2);
  for (std::size_t end = rest.find("::"); end != rest.npos;
       rest = rest.substr(end + 2), end = rest.find("::")) {
    const std::string scope = rest.substr(0, end);
    if (scope.empty() || scope.find('<') != scope.npos ||
        isType(chunk.name.substr(0, chunk.name.size() - rest.size() + end)))
      break; // a member of a class: it is defined where the class is visible
    opening += scope.starts_with("(anonymous") ? "namespace {\n" : "namespace " + scope + " {\n";
    closing += "\n}";
  }
  return opening + text + closing;
}

/// The specialization that stands for the same one: by its symbol, else (a constant in its template
/// arguments may have changed) by its place.
const Specialization *counterpart(const TuneSubject &subject, const KernelSpec &changed) {
  for (const Specialization &specialization : changed.specializations)
    if (specialization.symbol == subject.specialization.symbol)
      return &specialization;
  for (std::size_t i = 0;
       i < subject.kernel.specializations.size() && i < changed.specializations.size(); ++i)
    if (subject.kernel.specializations[i].symbol == subject.specialization.symbol)
      return &changed.specializations[i];
  return nullptr;
}

const KernelSpec *kernelOf(const TuneSubject &subject, const ExtractionResult &changed) {
  const auto kernel =
      std::find_if(changed.kernels.begin(), changed.kernels.end(),
                   [&](const KernelSpec &other) { return other.name == subject.kernel.name; });
  return kernel == changed.kernels.end() ? nullptr : &*kernel;
}

/// What a trial says of lines of its slice, of the user's files and the candidate's instead.
Status tellUserLines(const TuneSubject &subject, const Candidate &candidate,
                     const std::filesystem::path &file, Trial &trial) {
  KOPT_TRY(const RenderedSlice rendered,
           renderSlice(subject.sliceText, subject.kernel, subject.specialization, candidate));
  const auto lines =
      SliceLines::make(rendered.text, rendered.chunks, subject.specialization, file.string());
  if (!lines)
    return {}; // it is said as it is
  trial.reason = lines->tell(trial.reason);
  for (Finding &finding : trial.findings) {
    finding.message = lines->tell(finding.message);
    finding.where = lines->tell(finding.where);
  }
  for (CheckRecord &record : trial.checks)
    record.detail = lines->tell(record.detail);
  return {};
}

} // namespace

std::set<std::string> includesOf(const ExtractionResult &original) {
  std::set<std::string> names;
  for (const auto &[file, hash] : original.fileHashes) {
    const Result<std::string> text = readFile(file);
    for (const std::string &line : split(text ? *text : std::string(), '\n')) {
      std::string_view rest = line;
      const auto skip = [&](std::string_view word) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
        const bool isThere = rest.starts_with(word);
        rest.remove_prefix(isThere ? word.size() : 0);
        return isThere;
      };
      if (!skip("#") || !skip("include") || !(skip("<") || skip("\"")))
        continue;
      names.emplace(rest.substr(0, rest.find_first_of(">\"")));
    }
  }
  return names;
}

std::string notTaken(const TuneSubject &subject, const ExtractionResult &changed,
                     const std::set<std::string> &included) {
  const KernelSpec *kernel = kernelOf(subject, changed);
  const Specialization *other = kernel ? counterpart(subject, *kernel) : nullptr;
  std::vector<std::string> left, unneeded;
  bool hasVariable = false;
  const std::vector<SliceChunk> &own = subject.specialization.chunks;
  for (const SliceChunk &chunk : other ? other->chunks : std::vector<SliceChunk>()) {
    if ((chunk.role != "include" && chunk.role != "variable") ||
        std::any_of(own.begin(), own.end(),
                    [&](const SliceChunk &mine) { return sameDeclaration(mine, chunk); }))
      continue;
    hasVariable |= chunk.role == "variable";
    if (chunk.role == "variable")
      left.push_back(fmt::format("variable '{}'", chunk.name));
    else if (included.count(chunk.name))
      unneeded.push_back(fmt::format("<{}>", chunk.name));
    else
      left.push_back(fmt::format("#include <{}>", chunk.name));
  }
  std::string said;
  if (!left.empty())
    said += fmt::format("; a candidate is device code, so of its file {} {} not taken: have it in "
                        "the original first{}",
                        fmt::join(left, ", "), left.size() == 1 ? "was" : "were",
                        hasVariable ? ", or a table as a constexpr array within the kernel" : "");
  if (!unneeded.empty())
    said += fmt::format(
        "; the original's kernel needs nothing of {}, so a candidate has nothing of {} either",
        fmt::join(unneeded, ", "), unneeded.size() == 1 ? "it" : "them");
  return said;
}

Result<Candidate> candidateFromFile(const TuneSubject &subject, const ExtractionResult &changed) {
  const KernelSpec *kernel = kernelOf(subject, changed);
  const Specialization *other = kernel ? counterpart(subject, *kernel) : nullptr;
  if (!other || other->slice.empty())
    return makeError(ErrorCode::Usage,
                     fmt::format("the candidate's file has no kernel '{}'", subject.label),
                     "give the whole file, or its slice, with that kernel's code changed");
  KOPT_TRY(const std::string otherSlice, readFile(other->slice));

  Candidate candidate;
  candidate.proposer = "person";
  candidate.technique = "person";
  candidate.title = "candidate";
  const Specialization &own = subject.specialization;
  std::string added;
  for (const SliceChunk &chunk : other->chunks) {
    if (!isAddition(chunk))
      continue;
    std::size_t index = 0;
    while (index < own.chunks.size() && !sameDeclaration(own.chunks[index], chunk))
      ++index;
    const std::string text = textOf(otherSlice, chunk);
    if (index == own.chunks.size())
      added += inItsNamespaces(text, chunk, *other, subject.kernel.name) + "\n\n";
    else if (text == textOf(subject.sliceText, own.chunks[index]))
      continue;
    else if (own.chunks[index].editable)
      candidate.chunks[index] = text;
    else
      return makeError(
          ErrorCode::StaleInput,
          fmt::format("the candidate's file has another {} '{}', which the host may use, too",
                      chunk.role, chunk.name),
          "leave it as it is, and give what the candidate needs a name of its own");
  }
  if (!added.empty()) {
    std::string &kernelText = candidate.chunks[own.kernelChunk];
    kernelText =
        added +
        (kernelText.empty() ? textOf(subject.sliceText, own.chunks[own.kernelChunk]) : kernelText);
  }
  // The launch is computed with the constants' new values; their text is part of the chunks
  // already.
  for (const NamedConstant &constant : constantsInScope(*kernel, *other))
    for (const NamedConstant &before : constantsInScope(subject.kernel, own))
      if (before.name == constant.name && before.value != constant.value)
        candidate.constants[constant.name] = constant.value;
  return candidate;
}

Result<ExtractionResult> extractCandidate(Workbench &bench, const SourceSettings &sources,
                                          const std::filesystem::path &file,
                                          const std::string &arch, const std::string &folder) {
  ExtractRequest extract;
  extract.files = {file};
  extract.buildDirectory = sources.buildDirectory;
  extract.flags = sources.flags;
  if (extract.flags.empty() && !bench.subjects().empty())
    extract.flags = bench.subjects().front().kernel.compileFlags;
  extract.output = bench.scratch() / folder;
  extract.prove = false;
  extract.untrusted = true;
  Result<ExtractionResult> found = bench.frontend().extract(extract);
  if (found || found.error().code != ErrorCode::BaselineFailed || namesArch(extract.flags))
    return found;
  extract.flags.push_back("-arch=" + (arch.empty() ? bench.device().arch : arch));
  return bench.frontend().extract(extract);
}

Result<Workload> workloadOf(Services &services, const Workbench &bench, const TuneSubject &subject,
                            const std::optional<ObservedTrace> &observed,
                            std::vector<Launch> &heldOut) {
  if (!observed)
    return buildWorkload(subject.kernel, subject.specialization, subject.declaration,
                         bench.device().kind);
  KOPT_TRY(TraceWorkload captured,
           workloadFromTrace(*observed, subject.kernel, subject.specialization, subject.declaration,
                             bench.device().kind, kKindsOfLaunches));
  for (const std::string &note : captured.notes)
    services.terminal.line(note);
  heldOut = std::move(captured.heldOut);
  return std::move(captured.workload);
}

namespace {

/// A candidate that Clang cannot read is a candidate that does not build, not a failure of kopt.
Trial unreadable(const Error &error) {
  Trial trial;
  trial.verdict = Verdict::BuildFailed;
  trial.stage = Stage::Build;
  trial.reason = error.what;
  trial.buildLog = error.where.empty() ? error.what : error.where + ": error: " + error.what;
  return trial;
}

/// Nor is one that changes what is not its own.
Trial refused(const Error &error) {
  Trial trial;
  trial.verdict = Verdict::Rejected;
  trial.stage = Stage::Screen;
  trial.check = "screen";
  trial.reason = fmt::format("{}; {}", error.what, error.hint);
  return trial;
}

/// A win is looked at once more, with the layers that only wins are asked for, and timed in several
/// fresh processes. That look is the trial then.
Status confirmWin(LocalJudge &evaluator, Trial &trial) {
  KOPT_TRY(Trial confirmed, evaluator.confirm(trial.candidate));
  confirmed.findings.push_back(
      {"first-look", "note", "before that was confirmed: " + trial.reason, ""});
  for (const auto &[stage, seconds] : trial.stages)
    confirmed.stages[stage] += seconds;
  confirmed.seconds += trial.seconds;
  trial = std::move(confirmed);
  return {};
}

} // namespace

Status judgeHeldOut(Workbench &bench, const TuneSubject &subject, Workload workload,
                    std::vector<Launch> heldOut, JudgeOptions options, Trial &trial) {
  options.testAdequacy = false; // the launches that chose the candidate have been
  workload.launches = std::move(heldOut);
  for (Launch &launch : workload.launches)
    launch.weight = 1.0 / double(workload.launches.size());
  KOPT_TRY(const auto evaluator, bench.makeJudge(subject, workload, options, "held-out"));
  KOPT_CHECK(evaluator->measureBaseline());
  KOPT_TRY(const Trial other, evaluator->evaluate(trial.candidate));
  const bool holds = other.verdict == Verdict::Faster || other.verdict == Verdict::Same ||
                     other.verdict == Verdict::Ambiguous;
  if (holds) {
    trial.findings.push_back({"held-out", "note",
                              fmt::format("{} captured launches that chose nothing: {}",
                                          workload.launches.size(), other.reason),
                              ""});
    return {};
  }
  trial.verdict = other.verdict;
  trial.stage = other.stage;
  trial.reason = "on captured launches that were held out: " + other.reason;
  trial.speedup = other.speedup;
  trial.timings = other.timings;
  return {};
}

Result<std::vector<TrialOutcome>> runTrials(Services services, const TrialRequest &request) {
  KOPT_TRY(const std::unique_ptr<Workbench> bench,
           Workbench::open(services, request.sources, request.selection, request.device,
                           request.sandbox));
  std::vector<Result<ExtractionResult>> changed;
  for (const std::filesystem::path &file : request.candidates) {
    changed.push_back(extractCandidate(*bench, request.sources, file, request.options.arch,
                                       fmt::format("candidate-{}", changed.size())));
    if (!changed.back() && changed.back().error().code != ErrorCode::BaselineFailed)
      return tl::unexpected(changed.back().error());
  }
  std::optional<ObservedTrace> observed;
  if (!request.run.empty()) {
    KOPT_TRY(observed, programTrace(services, request.root, request.run, bench->subjects()));
  }
  std::vector<TrialOutcome> outcomes;
  for (const TuneSubject &subject : bench->subjects()) {
    Workload workload;
    std::vector<Launch> heldOut;
    std::vector<std::string> notRun;
    std::unique_ptr<LocalJudge> evaluator; // of the first candidate that can be read
    Trial baseline;
    for (std::size_t i = 0; i < request.candidates.size(); ++i) {
      TrialOutcome outcome;
      outcome.label = subject.label;
      outcome.candidate = request.candidates[i];
      outcome.device = bench->device();
      outcome.sandbox = bench->sandbox().layers();
      if (!changed[i]) {
        outcome.trial = unreadable(changed[i].error());
        outcomes.push_back(std::move(outcome));
        continue;
      }
      if (!evaluator) {
        KOPT_TRY(workload, workloadOf(services, *bench, subject, observed, heldOut));
        notRun = sitesNotRun(subject.kernel, subject.specialization, workload);
        KOPT_TRY(evaluator, bench->makeJudge(subject, workload, request.options,
                                             std::to_string(outcomes.size())));
        KOPT_TRY(baseline, evaluator->measureBaseline());
      }
      outcome.baseline = baseline;
      Result<Candidate> read = candidateFromFile(subject, *changed[i]);
      if (!read && read.error().code == ErrorCode::StaleInput) {
        outcome.trial = refused(read.error());
        outcomes.push_back(std::move(outcome));
        continue;
      }
      KOPT_TRY(Candidate candidate, std::move(read));
      candidate.title = request.candidates[i].stem().string();
      services.terminal.status(
          fmt::format("{}: judging {}", subject.label, request.candidates[i].filename().string()));
      KOPT_TRY(outcome.trial, evaluator->evaluate(candidate));
      if (outcome.trial.verdict == Verdict::Faster)
        KOPT_CHECK(confirmWin(*evaluator, outcome.trial));
      if (outcome.trial.verdict == Verdict::Faster)
        KOPT_CHECK(evaluator->addCounters(outcome.trial));
      if (outcome.trial.verdict == Verdict::Faster && !heldOut.empty())
        KOPT_CHECK(
            judgeHeldOut(*bench, subject, workload, heldOut, request.options, outcome.trial));
      KOPT_CHECK(tellUserLines(subject, candidate, request.candidates[i], outcome.trial));
      if (outcome.trial.verdict == Verdict::BuildFailed)
        outcome.trial.reason += notTaken(subject, *changed[i], includesOf(bench->extraction()));
      for (const Finding &finding : baseline.findings)
        if (finding.id == "launch-site")
          outcome.trial.findings.push_back({finding.id, "note", finding.message, finding.where});
      for (const std::string &place : notRun)
        outcome.trial.findings.push_back(
            {"launch-site", "note",
             "the kernel was not timed as it is launched here: no launch of the workload has that "
             "geometry ('sizes' "
             "says whether it could be verified there); --run takes the program's own launches",
             place});
      outcomes.push_back(std::move(outcome));
    }
  }
  services.terminal.clear();
  return outcomes;
}

} // namespace kopt
