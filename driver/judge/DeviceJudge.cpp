// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/DeviceJudge.h"

#include "driver/judge/Claim.h"
#include "driver/judge/learn/LearnOutputs.h"
#include "driver/judge/learn/Strengthening.h"
#include "driver/source/SliceLines.h"
#include "driver/support/Hash.h"
#include "driver/support/Log.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace kopt {

namespace {

/// The subject, with what its threads read across, if any of its inputs could be its output. The
/// front end is asked only then; where it has no answer, in-place launches are tried.
Subject withReadAcross(Frontend &frontend, Subject subject) {
  const std::vector<KernelParam> &params = subject.specialization.params;
  const auto isFree = [](const KernelParam &param, bool isConst) {
    return param.kind == ParamKind::Pointer && !param.restrict && param.pointeeConst == isConst;
  };
  const bool mayBeOne = std::ranges::any_of(params, [&](const KernelParam &in) {
    return isFree(in, true) && std::ranges::any_of(params, [&](const KernelParam &out) {
             return isFree(out, false) && out.scalar == in.scalar;
           });
  });
  if (mayBeOne)
    if (const auto model = frontend.modelOf(subject.sliceText, subject.specialization.expression,
                                            subject.kernel, {}))
      subject.readAcross = {model->readAcross.begin(), model->readAcross.end()};
  return subject;
}

} // namespace

DeviceJudge::DeviceJudge(JudgeDevice device, Frontend &frontend, Toolchain &toolchain,
                         Subject subject, JudgeOptions options,
                         std::unique_ptr<Emulation> emulation, std::function<double()> secondsLeft)
    : bench_{device,
             frontend,
             toolchain,
             options,
             CheckContext(device.runner, withReadAcross(frontend, std::move(subject)), options.seed,
                          options.checks),
             TimeLeft(std::move(secondsLeft))},
      verifier_(bench_, std::move(emulation)), timer_(bench_, verifier_.replays().weighing()),
      profiler_(bench_, timer_) {
  if (options.mostInstructions > 0 && bench_.isModelled())
    bench_.context.instructionLimits.assign(bench_.subject().workload.launches.size(),
                                            options.mostInstructions);
}

// The user's own kernel

Status DeviceJudge::loadBaseline(const Built &built, Trial &trial) {
  Built &baseline = bench_.context.baseline() = built;
  KOPT_TRY(const bool loaded, bench_.load(baseline, trial));
  if (!loaded)
    return baselineFailed(bench_.subject(),
                          fmt::format("kernel '{}' does not build as it is: {}",
                                      bench_.subject().kernel.name, trial.reason));
  sharedOfBaseline_ = trial.resources->sharedBytes;
  return {};
}

Status DeviceJudge::measureBaseline(const Built &built, Trial &trial) {
  trial.gpu = bench_.device.name;
  const auto step = [&](const char *name, auto function) -> Status {
    const LoggedStage logged(std::string("baseline: ") + name);
    const StageTimer timer(trial, std::string("baseline/") + name);
    return function();
  };
  KOPT_CHECK(step("load", [&] { return loadBaseline(built, trial); }));
  KOPT_TRY(const RenderedCandidate original, renderCandidate(bench_.subject(), trial.candidate));
  auto lines = profiler_.costLines(original, trial.candidateHash);
  KOPT_CHECK(
      step("outputs", [&] { return learnOutputs(bench_.context, true, bench_.gaps, trial); }));
  if (bench_.options.times)
    KOPT_CHECK(step("time", [&] { return timer_.timeBaseline(trial); }));
  const auto count = [&] {
    return step("profile", [&] { return profiler_.count(baseline(), trial); });
  };
  if (bench_.isModelled()) {
    KOPT_CHECK(count());
  } else { // what has to start does so while the checks learn
    if (bench_.options.counters)
      bench_.runner().prepareProfile();
    if (bench_.options.confirmsNext)
      bench_.prepareProcesses();
  }
  const auto countersOf = [&](const Launch &launch) -> Result<Counters> {
    KOPT_TRY(ProfileOutcome outcome,
             bench_.device.profile(baseline().module, baseline().path, launch));
    return std::move(outcome.counters);
  };
  KOPT_CHECK(
      step("emulated limits", [&] { return learnLimits(bench_.context, countersOf, trial); }));
  KOPT_CHECK(step("checks", [&] { return learnChecks(trial); }));
  if (bench_.options.counters && !bench_.isModelled())
    KOPT_CHECK(count());
  profiler_.addHotLines(original, std::move(lines), trial);
  noteIncidents(trial);
  return {};
}

/// Learns what every candidate needs. What no candidate needs is not learned.
Status DeviceJudge::learnChecks(Trial &trial) {
  if (bench_.options.depth == Depth::Look)
    return {};
  if (verifier_.waitsForWinner())
    return verifier_.learn(Depth::Search, trial);
  if (!bench_.isModelled())
    compileOriginalAhead();
  return verifier_.learn(Depth::Trial, trial);
}

Status DeviceJudge::learnAs(const DeviceJudge &first, const Built &built, Trial &trial) {
  Trial own; // discarded: the first device's trial is the record
  const CheckContext &theirs = first.bench_.context;
  CheckContext &context = bench_.context;
  KOPT_CHECK(loadBaseline(built, own));
  KOPT_CHECK(learnOutputs(context, false, bench_.gaps, own));
  KOPT_CHECK(agree(context, bench_.device.name, theirs, first.bench_.device.name));
  for (std::size_t i = 0; i < baseline().launches.size(); ++i)
    context.baseline().launches[i].weight = first.baseline().launches[i].weight;
  // Of a modelled device; they depend on the program, not on the device.
  context.instructionLimits = theirs.instructionLimits;
  context.blocksAreApart = theirs.blocksAreApart;
  context.racesItself = theirs.racesItself;
  timer_.timeAs(first.timer_);
  KOPT_CHECK(learnChecks(own));
  bench_.gaps = first.bench_.gaps; // gaps of the workload, not of the device
  noteIncidents(trial);
  return {};
}

/// Learns, once, what the first winner needs.
Status DeviceJudge::learnForWinner(Trial &trial) {
  if (bench_.options.ownLaunchesOnly)
    return {};
  if (!verifier_.hasLearnedForWinners()) {
    const StageTimer timer(trial, "baseline/checks");
    KOPT_CHECK(verifier_.learn(Depth::Trial, trial));
  }
  return testMutants(trial);
}

AdequacySettings DeviceJudge::adequacySettings() const {
  const JudgeOptions &options = bench_.options;
  AdequacySettings settings;
  settings.build = CandidateBuilder::baselineRequest(bench_.subject(), options.arch);
  settings.scratch = options.scratch;
  settings.cache = options.cache;
  settings.toolchain = bench_.toolchain.name();
  settings.threads = std::max(1u, options.buildThreads);
  if (!bench_.isModelled() && options.assurance == AssurancePolicy::Standard)
    settings.mostSeconds = bench_.left.isOver() ? 0 : bench_.left.forStep(options.mutantSeconds);
  return settings;
}

Status DeviceJudge::testMutants(Trial &trial) {
  const JudgeOptions &options = bench_.options;
  if (!verifier_.hasLearnedForWinners() || !options.checks.on(CheckId::Mutants) ||
      !options.testAdequacy || std::exchange(hasTestedMutants_, true))
    return {};
  const LoggedStage logged("baseline: mutants");
  const StageTimer timer(trial, "baseline/mutants");
  auto report = testAdequacy(bench_.context, verifier_.checks(), verifier_.replays(),
                             bench_.frontend, bench_.toolchain, adequacySettings());
  noteIncidents(trial);
  if (!report && report.error().code != ErrorCode::Internal)
    return tl::unexpected(report.error());
  const Subject &subject = bench_.subject();
  if (!report) {
    trial.findings.push_back(
        {"mutants", Severity::Warning,
         "it is not known whether the workload notices wrong kernels: " + report.error().what,
         placeOf(subject.kernel)});
    return {};
  }
  KOPT_CHECK(takeMutations(*report));
  if (mutations_.survivors.empty() && mutations_.untried == 0)
    return {};
  // The cached report refers to lines of the slice; messages refer to the user's files as they are
  // now.
  for (AdequacyReport::Survivor &survivor : mutations_.survivors)
    survivor.title = inUserLines(subject.specialization, subject.sliceText, survivor.title);
  const std::string remedy = mutations_.remedy();
  trial.findings.push_back(
      {"mutants", mutations_.isConclusive() ? Severity::Note : Severity::Warning,
       mutations_.inWords() + (remedy.empty() ? "" : "; what would notice: " + remedy),
       placeOf(subject.kernel)});
  return {};
}

Status DeviceJudge::takeMutations(const AdequacyReport &report) {
  hasTestedMutants_ = true;
  mutations_ = report;
  DerivedReplays &replays = verifier_.replays();
  for (const AdequacyReport::Addition &addition : report.additions) {
    KOPT_TRY(auto replay, remake(bench_.context, replays, addition,
                                 fmt::format("derived-{}-{}", toString(addition.kind),
                                             replays.replays().size())));
    if (replay)
      replays.add(std::move(*replay));
  }
  return {};
}

void DeviceJudge::compileOriginalAhead() {
  const auto subject = std::make_shared<const Subject>(bench_.subject());
  auto original = renderCandidate(*subject, Candidate());
  if (original &&
      verifier_.compileAhead(
          subject, std::make_shared<const RenderedCandidate>(std::move(*original)), true) &&
      bench_.options.testAdequacy && bench_.options.checks.on(CheckId::Mutants))
    compileMutantsAhead(subject, bench_.options.seed, bench_.frontend, bench_.toolchain,
                        adequacySettings(), *verifier_.compilers());
}

void DeviceJudge::compileAhead(const RenderedCandidate &candidate) {
  // For a trial, what concerns the original was learned with the baseline.
  if (!verifier_.waitsForWinner() && bench_.isModelled())
    return;
  if (verifier_.waitsForWinner() && !verifier_.compilers())
    compileOriginalAhead();
  verifier_.compileAhead(std::make_shared<const Subject>(bench_.subject()),
                         std::make_shared<const RenderedCandidate>(candidate), false);
}

// Candidates

/// Refuses a launch that needs an opt-in for shared memory and does not have it. The kernel's
/// static shared memory counts as well as the launch's dynamic memory.
bool DeviceJudge::fitsWithoutOptIn(const Candidate &candidate, const Built &built,
                                   Trial &trial) const {
  const std::uint32_t own = trial.resources->sharedBytes;
  for (std::size_t i = 0; i < built.launches.size(); ++i) {
    const Launch &launch = built.launches[i];
    const std::uint32_t before = baseline().launches[i].sharedBytes;
    if (own + launch.sharedBytes <= gpu::kSharedWithoutOptIn || launch.sharedBytes == 0 ||
        candidate.launch.largeShared || sharedOfBaseline_ + before > gpu::kSharedWithoutOptIn)
      continue;
    refuse({CheckId::Outputs, Verdict::RunFailed,
            fmt::format("launch '{}' asks for {} bytes of dynamic shared memory beside the {} that "
                        "the kernel declares; more than {} together need "
                        "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                        "bytes) before it",
                        launch.name, launch.sharedBytes, own, gpu::kSharedWithoutOptIn)},
           trial);
    return false;
  }
  return true;
}

/// Adds incidents (faults that were not the candidate's and were repaired) to the trial during
/// which they happened.
void DeviceJudge::noteIncidents(Trial &trial) {
  for (Incident &incident : bench_.runner().takeIncidents())
    trial.findings.push_back({"incident", Severity::Note, std::move(incident.what), ""});
}

/// Times what was refused already, only to see what else would have noticed.
Status DeviceJudge::timeRefused(const Built &built, const JudgePlan &plan, Trial &trial) {
  Trial timed = trial;
  KOPT_CHECK(timer_.time(built, plan.policy, plan.processes, timed));
  timed.verdict = trial.verdict;
  timed.reason = trial.reason;
  timed.check = trial.check;
  timed.stage = trial.stage;
  trial = std::move(timed);
  return {};
}

/// Verifies a gain that is hard to believe more thoroughly instead of refusing it. Does the same
/// for every gain if some wrong versions of the kernel showed only on a few inputs. Returns false
/// if that refuses it.
Result<bool> DeviceJudge::escalate(const Examination &first, const JudgePlan &plan,
                                   bool isDoubtful) {
  Trial &trial = first.trial;
  Examination again = first;
  again.freshSeed = ~first.freshSeed;
  again.strength = isDoubtful ? Strength::full() : Strength{};
  again.strength.freshDraws = std::max(again.strength.freshDraws, mutations_.draws);
  again.depth = isDoubtful ? Depth::Win : plan.depth;
  needed_[trial.candidateHash] = again.strength;
  trial.findings.push_back(
      {"escalated", Severity::Note,
       "verified again on more inputs, as " +
           (isDoubtful ? inWords(*trial.speedup) + " is hard to believe" : mutations_.inWords()),
       ""});
  const bool isDone = first.strength.freshDraws >= again.strength.freshDraws &&
                      first.strength.repeats >= again.strength.repeats;
  if (isDone || !plan.escalates)
    return true;
  const Stage stage = trial.stage;
  KOPT_CHECK(learnForWinner(trial));
  KOPT_TRY(const bool verified, verifier_.verify(again));
  if (verified)
    trial.stage = stage;
  return verified;
}

/// Verifies and times a loaded module. Writes the verdict to the trial.
Status DeviceJudge::judge(const RenderedCandidate &candidate, Built &built, const JudgePlan &plan,
                          std::uint64_t freshSeed, Strength strength, Trial &trial) {
  if (plan.depth > Depth::Search)
    KOPT_CHECK(learnForWinner(trial));
  if (plan.preparesProcesses)
    bench_.prepareProcesses();
  Examination examination{candidate, built, freshSeed, strength, plan.first, trial};
  KOPT_TRY(bool verified, verifier_.verify(examination));
  if (!verified)
    return bench_.options.keepGoing ? timeRefused(built, plan, trial) : Status();
  auto lines = plan.wantsLines ? profiler_.costLines(candidate, trial.candidateHash)
                               : CandidateProfiler::LineCosts();
  KOPT_TRY(const bool timed, timer_.time(built, plan.policy, plan.processes, trial));
  const bool isFaster = timed && trial.verdict == Verdict::Faster;
  const bool isBehind = isFaster && trial.speedup->estimate < plan.fastest;
  if (isFaster && !isBehind && plan.preparesIfFaster)
    bench_.prepareProcesses();
  if (timed && plan.again != VerifyAgain::Never &&
      isFaster == (plan.again == VerifyAgain::IfFaster)) {
    KOPT_CHECK(verifier_.learn(Depth::Search, trial));
    verifier_.forget(trial);
    examination.depth = isBehind ? std::min(plan.depth, Depth::Search) : plan.depth;
    KOPT_TRY(verified, verifier_.verify(examination));
    if (!verified)
      return {};
    trial.stage = Stage::Time;
  }
  const bool isDoubtful =
      isFaster && !isBehind && trial.speedup->estimate > bench_.options.escalateAbove;
  if (isDoubtful || (isFaster && !isBehind && mutations_.draws > 1)) {
    KOPT_TRY(verified, escalate(examination, plan, isDoubtful));
    if (!verified)
      return {};
  }
  const Depth claimed = isBehind                       ? Depth::Search
                        : isDoubtful && plan.escalates ? Depth::Win
                                                       : plan.claimed;
  const bool isWhole = bench_.isModelled() && !isBehind; // there is no first look at it
  claim({bench_.options.checks, bench_.options.assurance, bench_.runner().device(), built.launches,
         bench_.gaps, verifier_.hasLearnedForWinners() ? &mutations_ : nullptr,
         claimed == Depth::Win || isWhole, claimed == Depth::Search && !isWhole},
        trial);
  if (plan.wantsLines && trial.verdict == Verdict::Faster)
    profiler_.addHotLines(candidate, std::move(lines), trial);
  return timed && plan.wantsCounts ? profiler_.count(built, trial) : Status();
}

Result<Trial> DeviceJudge::judge(const Prepared &prepared, Purpose purpose, double fastest) {
  const auto start = std::chrono::steady_clock::now();
  Trial trial = prepared.trial;
  Built built = prepared.built;
  trial.gpu = bench_.device.name;
  trial.assurance = {};
  const JudgePlan plan = planOf(bench_.options, purpose, isDemanded(trial, CheckId::Sanitizer),
                                bench_.isModelled(), fastest);
  const bool isConfirmation = purpose == Purpose::Confirmation;
  const std::uint64_t freshSeed =
      seedFrom(fmt::format("{}{}/{}", isConfirmation ? "confirm/" : "", bench_.options.seed,
                           prepared.candidate.contentHash()));
  // A win is verified on as many inputs as it was found to need when it was first seen.
  const auto needed = needed_.find(trial.candidateHash);
  const Strength strength = isConfirmation && needed != needed_.end() ? needed->second : Strength();
  KOPT_TRY(const bool loaded, bench_.load(built, trial));
  const bool isRun = loaded && fitsWithoutOptIn(trial.candidate, built, trial);
  const Status status =
      isRun ? judge(prepared.candidate, built, plan, freshSeed, strength, trial) : Status();
  if (loaded)
    bench_.runner().unload(built.module);
  noteIncidents(trial);
  if (!status)
    return tl::unexpected(status.error());
  trial.seconds = prepared.seconds + secondsSince(start);
  trial.purpose = purpose;
  trial.assurance = assuranceSoFar(trial, bench_.gaps);
  return trial;
}

Result<std::optional<Failure>> DeviceJudge::whyNot(const RenderedCandidate &candidate, Built built,
                                                   std::uint64_t freshSeed) {
  Trial trial;
  KOPT_TRY(bool passed, bench_.load(built, trial));
  if (passed) {
    const Result<bool> verified =
        verifier_.verify({candidate, built, freshSeed, {}, Depth::Search, trial});
    bench_.runner().unload(built.module);
    KOPT_TRY(passed, verified);
  }
  return passed ? std::nullopt : std::optional(Failure{trial.check, trial.verdict, trial.reason});
}

Result<std::optional<Speedup>> DeviceJudge::compare(Built one, Built other) {
  Trial unused;
  KOPT_TRY(const bool loadedOne, bench_.load(one, unused));
  if (!loadedOne)
    return std::nullopt;
  KOPT_TRY(const bool loadedOther, bench_.load(other, unused));
  auto speedup = loadedOther ? timer_.compare(one, other) : std::nullopt;
  bench_.runner().unload(one.module);
  if (loadedOther)
    bench_.runner().unload(other.module);
  return speedup;
}

Status DeviceJudge::addCounters(const Prepared &prepared, Trial &trial) {
  if (bench_.left.isOver()) {
    trial.findings.push_back(
        {"profile", Severity::Note, std::string("no counters: ") + TimeLeft::kOver, ""});
    return {};
  }
  const auto start = std::chrono::steady_clock::now();
  Trial unused;
  Built built = prepared.built;
  KOPT_TRY(const bool loaded, bench_.load(built, unused));
  if (!loaded)
    return {}; // the trial stays without counters
  std::erase_if(trial.findings, [](const Finding &finding) { return finding.id == "profile"; });
  const Status status = profiler_.count(built, trial);
  bench_.runner().unload(built.module);
  trial.seconds += secondsSince(start);
  return status;
}

} // namespace kopt
