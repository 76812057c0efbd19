// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/VersionBench.h"

#include "driver/judge/DeviceJudge.h"
#include "driver/source/CompilerMessages.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SliceLines.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// The options of a gate: only check whether both versions give the same results on the declared
/// launches. The other checks of candidates do not apply to a version that its author wrote.
JudgeOptions gateOptions(JudgeOptions options, bool comparesResults) {
  // Results of timed launches are not checked, so that a version with other results is timed too.
  std::set<CheckId> off = {CheckId::Mutants,   CheckId::Obligations, CheckId::Roofline,
                           CheckId::Reference, CheckId::Coverage,    CheckId::Emulated,
                           CheckId::Sanitizer, CheckId::Timed};
  if (!comparesResults)
    off.insert({CheckId::Outputs, CheckId::Fresh, CheckId::Unwritten});
  options.checks = CheckSwitches(std::move(off));
  options.ownLaunchesOnly = true;
  options.testAdequacy = false;
  options.keepGoing = true;
  options.processes = std::max(options.processes, kGateProcesses);
  options.escalateAbove = std::numeric_limits<double>::infinity();
  return options;
}

bool isDecidedByTime(Verdict verdict) {
  return verdict == Verdict::Faster || verdict == Verdict::Same || verdict == Verdict::Slower ||
         verdict == Verdict::Ambiguous;
}

GateVerdict gateVerdict(Verdict verdict) {
  return verdict == Verdict::Faster   ? GateVerdict::Faster
         : verdict == Verdict::Same   ? GateVerdict::Same
         : verdict == Verdict::Slower ? GateVerdict::Slower
                                      : GateVerdict::Ambiguous;
}

/// True if fresh processes must confirm the result. More pairs cannot decide what a model leaves
/// open.
bool wantsSecondLook(const GateKernel &kernel, bool modelled) {
  return kernel.broken || kernel.verdict == GateVerdict::Faster ||
         kernel.verdict == GateVerdict::Slower ||
         (kernel.verdict == GateVerdict::Ambiguous && !modelled);
}

void notMeasured(GateKernel &kernel, const std::string &why) {
  kernel.verdict = GateVerdict::NotMeasured;
  kernel.reason = why;
}

} // namespace

void takeTrial(const Trial &trial, const VerdictPolicy &policy, GateKernel &kernel) {
  kernel.measured = trial.speedup.has_value();
  kernel.speedup = trial.speedup;
  kernel.launches.clear();
  kernel.broken = false;
  for (const LaunchTiming &timing : trial.timings)
    kernel.launches.push_back(
        {timing.launch, timing.baselineSeconds, timing.candidateSeconds, timing.speedup});
  if (!trial.speedup) {
    kernel.launches.clear();
    if (trial.verdict == Verdict::TimedOut) {
      kernel.verdict = GateVerdict::Slower;
      kernel.reason = "it did not end within a multiple of the base's time: " + trial.reason;
      return;
    }
    kernel.broken = true;
    notMeasured(kernel, "the head's version fails where the base's runs: " + trial.reason);
    return;
  }
  const TimingDecision decision = decideVerdict(*trial.speedup, trial.timings, policy);
  const bool byTime = isDecidedByTime(trial.verdict);
  kernel.verdict = gateVerdict(byTime ? trial.verdict : decision.verdict);
  kernel.reason = byTime ? trial.reason : decision.reason;
  const bool otherResults = trial.check == CheckId::Outputs || trial.check == CheckId::Fresh;
  if (trial.verdict == Verdict::RunFailed ||
      (trial.verdict == Verdict::WrongResult && !otherResults)) {
    kernel.broken = true;
    kernel.notes.push_back("the head's version fails where the base's runs: " + trial.reason);
  } else if (trial.verdict == Verdict::WrongResult) {
    kernel.notes.push_back("its results are not the base's: " + trial.reason);
  }
}

Result<VersionBench::Code> VersionBench::build(Toolchain &toolchain, const TuneSubject &subject) {
  Code code;
  KOPT_TRY(const RenderedSlice rendered, renderSlice(subject, Candidate{}));
  BuildRequest request = CandidateBuilder::requestOf(
      subject, options_.arch, rendered,
      services_.scratch / "evaluate" / fmt::format("version-{}", builds_++) / "module");
  KOPT_TRY(code.outcome, toolchain.build(request));
  code.symbol = request.symbol;
  if (!code.outcome.ok)
    code.problem = firstError(code.outcome.log, 1);
  return code;
}

Result<VersionBench::Codes> VersionBench::buildBoth(Toolchain &toolchain, const TuneSubject &base,
                                                    const TuneSubject &head) {
  Codes codes;
  KOPT_TRY(codes.base, build(toolchain, base));
  KOPT_TRY(codes.head, build(toolchain, head));
  return codes;
}

Status VersionBench::compare(const TuneSubject &base, const TuneSubject &head, bool sameLaunches,
                             GateKernel &kernel) {
  const LoggedStage logged("compare " + head.label);
  services_.tell(fmt::format("{}: comparing with the base", head.label));
  const auto workload = pairedWorkload(base, head, services_.device.kind);
  std::optional<Codes> codes;
  if (Toolchain *const compiler = services_.nvcc ? services_.nvcc : services_.toolchain) {
    KOPT_TRY(codes, buildBoth(*compiler, base, head));
    if (codes->isSame() &&
        (workload ? sameGeometry(workload->base, workload->head) : sameLaunches)) {
      kernel.verdict = GateVerdict::Same;
      kernel.reason = "the machine code and the launches are those of the base";
      return {};
    }
  }
  if (!workload) {
    notMeasured(kernel, inWords(workload.error()));
    return {};
  }
  kernel.notes = workload->notes;
  if (!services_.runner) {
    notMeasured(kernel, fmt::format("dry run: {} of both versions would be timed",
                                    counted(workload->head.launches.size(), "launch", "launches")));
    return {};
  }
  for (const TuneSubject *version : {&base, &head})
    if (version->specialization.route == Route::InPlace && services_.device.modelled) {
      notMeasured(kernel, fmt::format("it could not be lifted out of its file ({}), which the "
                                      "emulated device needs",
                                      version->specialization.reason));
      return {};
    }
  if (!codes || services_.nvcc) {
    KOPT_TRY(codes, buildBoth(*services_.toolchain, base, head));
  }
  const std::string how = services_.device.modelled ? " for the emulated device" : "";
  if (!codes->base.problem.empty()) {
    notMeasured(kernel,
                fmt::format("the base's version does not build{}: {}", how, codes->base.problem));
    return {};
  }
  if (!codes->head.problem.empty()) {
    // Code that the emulated device cannot run may still be correct.
    kernel.broken = !services_.device.modelled;
    kernel.confirmed = kernel.broken;
    notMeasured(kernel,
                fmt::format("the head's version does not build{}: {}", how, codes->head.problem));
    return {};
  }
  return measure(base, head, *codes, *workload, kernel);
}

Status VersionBench::measure(const TuneSubject &base, const TuneSubject &head, const Codes &codes,
                             const PairedWorkload &workload, GateKernel &kernel) {
  JudgeOptions options = gateOptions(options_, workload.sameBuffers);
  options.scratch = services_.scratch / "evaluate" / fmt::format("{}-{}", "judge", judges_++);
  KOPT_CHECK(createDirectories(options.scratch));
  const auto profile = [this](ModuleId module, const fs::path &,
                              const Launch &launch) -> Result<ProfileOutcome> {
    if (services_.device.modelled)
      return services_.runner->profile(module, launch, RunOptions{});
    ProfileOutcome none; // counters cost seconds on a GPU, and are not used here
    none.status = RunStatus::LaunchFailed;
    none.detail = "not asked for";
    return none;
  };
  DeviceJudge judge(JudgeDevice{*services_.runner, profile, "0", nullptr}, services_.frontend,
                    *services_.toolchain, Subject{base, workload.base, base.declaration}, options);
  const auto builtOf = [](const Code &code, const Workload &own) {
    return Built{code.outcome.module,    code.symbol, code.outcome.hash,
                 code.outcome.externals, 0,           own.launches};
  };
  Trial baseline;
  if (const Status learned = judge.measureBaseline(builtOf(codes.base, workload.base), baseline);
      !learned) {
    if (learned.error().code != ErrorCode::BaselineFailed)
      return learned;
    notMeasured(kernel, "the base's version cannot be a baseline: " + inWords(learned.error()));
    return {};
  }
  for (const Finding &finding : baseline.findings)
    if (finding.severity == Severity::Warning && finding.id == "control")
      kernel.notes.push_back(finding.message);

  Prepared version;
  version.ready = true;
  version.trial.candidate.proposer = "head";
  version.trial.candidate.title = "head";
  version.trial.candidateHash = version.trial.candidate.contentHash();
  version.trial.moduleHash = codes.head.outcome.hash;
  version.built = builtOf(codes.head, workload.head);
  for (std::size_t i = 0; workload.sameBuffers && i < version.built.launches.size(); ++i)
    version.built.launches[i].buffers = judge.baseline().launches[i].buffers;

  const std::vector<std::string> notes = kernel.notes;
  KOPT_TRY(Trial first, judge.judge(version, Purpose::Search));
  first.reason = inUserLines(head.specialization, head.sliceText, first.reason);
  takeTrial(first, options.policy, kernel);
  if (wantsSecondLook(kernel, services_.device.modelled)) {
    const GateVerdict before = kernel.verdict;
    const bool wasBroken = kernel.broken;
    const std::string firstReason = first.reason;
    services_.tell(fmt::format("{}: confirming in a fresh process", kernel.kernel));
    services_.runner->renew();
    KOPT_TRY(Trial second, judge.judge(version, Purpose::Confirmation));
    second.reason = inUserLines(head.specialization, head.sliceText, second.reason);
    kernel.notes = notes;
    VerdictPolicy policy = options.policy;
    policy.confidence = 0.99;
    takeTrial(second, policy, kernel);
    kernel.confirmed = true;
    const bool isOther = kernel.verdict != before || kernel.broken != wasBroken;
    if (isOther && before != GateVerdict::Ambiguous)
      kernel.notes.push_back("a first look said otherwise, and fresh processes decide: " +
                             firstReason);
  }
  double weights = 0, lost = 0;
  for (std::size_t i = 0; i < kernel.launches.size(); ++i) {
    const double weight = workload.head.launches[i].weight;
    weights += weight;
    lost += weight * (kernel.launches[i].headSeconds - kernel.launches[i].baseSeconds);
  }
  kernel.lostSeconds = weights > 0 ? lost / weights : 0;
  return {};
}

} // namespace kopt
