// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/CandidateBuilder.h"
#include "driver/source/CompilerMessages.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SharedCode.h"
#include "driver/workload/ApplyCandidate.h"

#include "driver/judge/Claim.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// Decides the trial; false, as nothing is built.
bool rejected(const std::string &reason, Trial &trial) {
  trial.verdict = Verdict::Rejected;
  trial.reason = reason;
  return false;
}

} // namespace

BuildRequest CandidateBuilder::baselineRequest(const SlicedKernel &kernel,
                                               const std::string &arch) {
  BuildRequest request;
  request.expression = kernel.specialization.expression;
  if (!kernel.specialization.fileLocal)
    request.symbol = kernel.specialization.symbol;
  request.arch = arch;
  request.flags = kernel.kernel.compileFlags;
  request.directory = kernel.kernel.directory;
  return request;
}

BuildRequest CandidateBuilder::requestOf(const SlicedKernel &kernel, const std::string &arch,
                                         const RenderedSlice &rendered,
                                         const std::filesystem::path &output) {
  BuildRequest request = baselineRequest(kernel, arch);
  request.sliceText = rendered.text;
  request.flags.insert(request.flags.end(), rendered.flags.begin(), rendered.flags.end());
  if (rendered.expression != request.expression)
    request.symbol.clear();
  request.expression = rendered.expression;
  request.output = output;
  return request;
}

Result<bool> CandidateBuilder::screen(const RenderedCandidate &candidate, Trial &trial) const {
  const StageTimer timer(trial, "build/screen");
  trial.stage = Stage::Screen;
  const SharedCode shared =
      sharedCode(subject_.kernel, subject_.specialization, candidate, candidate.slice,
                 subject_.declaration ? subject_.declaration->params : std::vector<TunableParam>());
  KOPT_TRY(trial.findings, frontend_.screen(subject_.sliceText, candidate.slice.text,
                                            subject_.kernel, candidate.slice.expression, shared));
  if (!options_.checks.on(CheckId::Screen))
    return true;
  for (const Finding &finding : trial.findings)
    if (finding.severity == Severity::Reject) {
      refuse({CheckId::Screen, Verdict::Rejected,
              fmt::format("{}{}{}", finding.message, finding.where.empty() ? "" : " at ",
                          finding.where)},
             trial);
      return options_.keepGoing;
    }
  trial.checks.push_back({CheckId::Screen, CheckState::Passed, ""});
  return true;
}

Result<bool> CandidateBuilder::compile(const RenderedCandidate &candidate,
                                       const std::filesystem::path &output, Trial &trial,
                                       Built &built) const {
  const StageTimer timer(trial, "build/compile");
  if (trial.check == CheckId::None)
    trial.stage = Stage::Build;
  for (const Launch &launch :
       baseline_.launches.empty() ? subject_.workload.launches : baseline_.launches) {
    auto changed = applyToLaunch(subject_.kernel, launch, candidate);
    if (!changed)
      return rejected(changed.error().what, trial);
    built.launches.push_back(std::move(*changed));
  }
  const BuildRequest request = requestOf(subject_, options_.arch, candidate.slice, output);
  KOPT_TRY(const BuildOutcome outcome, toolchain_.build(request));
  trial.buildLog = outcome.log;
  trial.moduleHash = outcome.hash;
  if (!outcome.ok && trial.check != CheckId::None)
    return false; // refused already
  if (!outcome.ok) {
    built.fault = outcome.fault;
    trial.verdict = Verdict::BuildFailed;
    const auto error = outcome.log.find("error");
    const auto lineStart = error == std::string::npos ? 0 : outcome.log.rfind('\n', error) + 1;
    trial.reason = outcome.log.substr(lineStart, outcome.log.find('\n', lineStart) - lineStart);
    // A candidate that Clang can parse with the toolkit's headers may still be right.
    const bool isRead = std::none_of(trial.findings.begin(), trial.findings.end(),
                                     [](const Finding &finding) { return finding.id == "parse"; });
    if (toolchain_.kind() == ToolchainKind::Emulated && !baseline_.hash.empty() && isRead &&
        options_.checks.on(CheckId::Screen) && outcome.fault != BuildFault::Compiler)
      trial.reason = fmt::format(
          "the emulated device cannot run this candidate: {}; judge it on a GPU", trial.reason);
    return false;
  }
  built.path = outcome.module;
  built.symbol = request.symbol;
  built.hash = outcome.hash;
  built.externals = outcome.externals;
  if (!options_.checks.on(CheckId::Externals) || baseline_.hash.empty())
    return true;
  if (const auto failure = forbiddenExternal(built.externals, baseline_.externals)) {
    refuse(*failure, trial);
    return options_.keepGoing;
  }
  trial.checks.push_back({CheckId::Externals, CheckState::Passed, ""});
  return true;
}

Result<Built> CandidateBuilder::buildBaseline(Trial &trial) {
  KOPT_TRY(const RenderedCandidate original, renderCandidate(subject_, trial.candidate));
  trial.sliceText = original.slice.text;
  Built built;
  KOPT_TRY(const bool compiled, compile(original, nextModule(), trial, built));
  if (!compiled) {
    const auto places =
        SliceLines::make(original.slice.text, original.slice.chunks, subject_.specialization);
    return makeError(
        ErrorCode::BaselineFailed,
        fmt::format("kernel '{}' {}: {}", subject_.kernel.name,
                    built.fault == BuildFault::Device ? "needs a GPU" : "does not build as it is",
                    places ? places->tell(trial.reason) : trial.reason),
        compilerHint(trial.buildLog, places ? &*places : nullptr), placeOf(subject_.kernel));
  }
  return built;
}

Result<bool> CandidateBuilder::screenAndCompile(const std::filesystem::path &output,
                                                Prepared &prepared) const {
  Trial &trial = prepared.trial;
  auto rendered = renderSlice(subject_, trial.candidate);
  if (!rendered)
    return rejected(rendered.error().what, trial);
  prepared.candidate.slice = std::move(*rendered);
  trial.sliceText = prepared.candidate.slice.text;
  if (subject_.declaration)
    if (const auto broken = brokenClause(*subject_.declaration, subject_.kernel,
                                         subject_.workload.launches, trial.candidate))
      return rejected(*broken, trial);
  KOPT_TRY(const bool screened, screen(prepared.candidate, trial));
  return screened ? compile(prepared.candidate, output, trial, prepared.built)
                  : Result<bool>(false);
}

Prepared CandidateBuilder::prepare(const Candidate &candidate,
                                   const std::filesystem::path &output) const {
  const auto start = std::chrono::steady_clock::now();
  Prepared prepared;
  prepared.candidate = {candidate, {}};
  prepared.trial.candidate = candidate;
  prepared.trial.candidateHash = candidate.contentHash();
  prepared.trial.assurance = assuranceOf({});
  const Result<bool> ready = screenAndCompile(output, prepared);
  if (ready)
    prepared.ready = *ready;
  else
    prepared.error = ready.error();
  prepared.seconds = secondsSince(start);
  return prepared;
}

std::filesystem::path CandidateBuilder::nextModule() {
  return options_.scratch / fmt::format("{}", modules_++) / "module";
}

void CandidateBuilder::ahead(const std::vector<Candidate> &candidates) {
  if (options_.buildThreads == 0)
    return;
  if (!builders_)
    builders_ = std::make_unique<JobQueue>(options_.buildThreads);
  for (const Candidate &candidate : candidates) {
    const std::string hash = candidate.contentHash();
    if (ahead_.contains(hash))
      continue;
    ahead_.emplace(hash, builders_->call([this, candidate, output = nextModule()] {
      return prepare(candidate, output);
    }));
  }
}

Prepared CandidateBuilder::take(const Candidate &candidate) {
  const auto start = std::chrono::steady_clock::now();
  Prepared prepared;
  if (const auto begun = ahead_.find(candidate.contentHash()); begun != ahead_.end()) {
    prepared = begun->second.get();
    ahead_.erase(begun);
    prepared.trial.stages["wait"] += secondsSince(start);
  } else {
    prepared = prepare(candidate, nextModule());
  }
  return prepared;
}

} // namespace kopt
