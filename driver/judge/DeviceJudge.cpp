// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/DeviceJudge.h"

#include "driver/device/CudaToolkit.h"
#include "driver/judge/Claim.h"
#include "driver/judge/checks/CompareBuffers.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SliceLines.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Log.h"
#include "driver/workload/ApplyCandidate.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

namespace kopt {
namespace {

/// Once the time for a confirmation is nearly over, it only times the candidate: in five processes
/// and on held-out launches, which together take about so many times the baseline's timing.
constexpr double kTimings = 6;
/// The most of the time for a confirmation that one step of learning may take.
constexpr double kShareOfTime = 0.2;
/// The file names that modules record for the slice: emulated ones, and those of nvcc.
constexpr const char *kEmulatedSlice = "slice.cu", *kLinesModule = "kopt-lines.cubin",
                     *kLinesSlice = "kopt-lines.cubin.cu";
constexpr const char *kNoTime = "the time budget was nearly used up; --budget-seconds gives more";

} // namespace

DeviceJudge::DeviceJudge(JudgeDevice device, Frontend &frontend, Toolchain &toolchain,
                         Subject subject, JudgeOptions options,
                         std::unique_ptr<Emulation> emulation, std::function<double()> secondsLeft)
    : device_(std::move(device)), runner_(device_.runner), frontend_(frontend),
      toolchain_(toolchain), options_(std::move(options)), secondsLeft_(std::move(secondsLeft)),
      context_(runner_, std::move(subject), options_.seed, options_.checks),
      emulation_(std::move(emulation)),
      replays_(std::make_shared<DerivedReplays>(options_.mostDerived, options_.assurance)),
      checks_(makeChecks(options_.checks,
                         {frontend_, toolchain_,
                          CandidateBuilder::baselineRequest(context_.subject(), options_),
                          options_.scratch, emulation_.get(), options_.assurance},
                         replays_)) {
  if (options_.mostInstructions > 0 && runner_.device().modelled)
    context_.instructionLimits.assign(context_.subject().workload.launches.size(),
                                      options_.mostInstructions);
  if (options_.ownLaunchesOnly) {
    const auto others = std::ranges::stable_partition(checks_, [](const auto &check) {
      return check->id() == CheckId::Outputs || check->id() == CheckId::Fresh;
    });
    std::ranges::move(others, std::back_inserter(unasked_));
    checks_.erase(others.begin(), others.end());
  }
}

Result<bool> DeviceJudge::load(Built &built, Trial &trial) {
  const StageTimer timer(trial, "load");
  auto loaded = runner_.load(built.path, built.symbol);
  if (!loaded && loaded.error().code != ErrorCode::BaselineFailed)
    return tl::unexpected(loaded.error()); // not the module's fault
  if (!loaded) {
    trial.verdict = Verdict::RunFailed;
    trial.reason = loaded.error().what;
    return false;
  }
  trial.resources = *loaded;
  trial.resources->id = 0; // valid only in this process, so not part of the record
  built.module = loaded->id;
  return true;
}

/// Refuses a launch that needs an opt-in for shared memory and does not have it. The kernel's
/// static shared memory counts as well as the launch's dynamic memory.
bool DeviceJudge::fitsWithoutOptIn(const Candidate &candidate, const Built &built,
                                   Trial &trial) const {
  const std::uint32_t own = trial.resources->sharedBytes;
  for (std::size_t i = 0; i < built.launches.size(); ++i) {
    const Launch &launch = built.launches[i];
    const std::uint32_t before = context_.baseline().launches[i].sharedBytes;
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

bool DeviceJudge::isLate() const {
  return secondsLeft_ && secondsLeft_() < kTimings * timeSeconds_;
}

bool DeviceJudge::hasNoTime(const Check &check) const {
  return check.from() > Depth::Search && (unlearned_.contains(&check) || isLate());
}

double DeviceJudge::mostSeconds(double seconds) const {
  return secondsLeft_ ? std::clamp(kShareOfTime * secondsLeft_(), 0.0, seconds) : seconds;
}

Result<bool> DeviceJudge::verify(const Candidate &candidate, const Built &built,
                                 std::uint64_t freshSeed, Strength strength, Depth depth,
                                 Trial &trial) {
  if (trial.check == CheckId::None)
    trial.stage = Stage::Verify;
  Examination examination{candidate, built, freshSeed, strength, depth, trial};
  for (const std::unique_ptr<Check> &check : checks_)
    if (depth >= check->from() && !hasNoTime(*check))
      check->begin(context_, examination);
  const Result<bool> passed = runChecks(examination);
  for (const std::unique_ptr<Check> &check : checks_)
    check->end();
  return passed;
}

Result<bool> DeviceJudge::runChecks(Examination &examination) {
  const Depth depth = examination.depth;
  Trial &trial = examination.trial;
  for (const std::unique_ptr<Check> &check : checks_) {
    CheckRecord record{check->id(), CheckState::Passed, ""};
    if (depth >= check->from() && hasNoTime(*check)) {
      trial.checks.push_back({check->id(), CheckState::NotRun, kNoTime});
      continue;
    }
    std::optional<LoggedStage> logged;
    if (depth > Depth::Search)
      logged.emplace(fmt::format("check {}", toString(check->id())));
    KOPT_TRY(const std::optional<Failure> failure, check->check(context_, examination, record));
    if (!failure) {
      trial.checks.push_back(std::move(record));
      continue;
    }
    refuse(*failure, trial);
    if (!options_.keepGoing)
      return false;
  }
  return trial.check == CheckId::None;
}

/// Compares the outputs of a timed launch, too, as the check 'outputs' does. This catches code that
/// behaves differently when it is timed. On a modelled device the baseline's known results are
/// used.
Result<std::optional<Failure>> DeviceJudge::timedOutputsAgree(std::size_t index,
                                                              const Launch &launch,
                                                              const TimingOutcome &outcome,
                                                              Trial &trial) {
  const StageTimer timer(trial, "time/judge");
  const auto &expected =
      outcome.buffersA.empty() ? context_.expected[index].buffers : outcome.buffersA;
  const auto mismatchWithin = [&](const std::vector<Slack> &slack) {
    return firstMismatch(launch.buffers, subject().workload.tolerance, expected, outcome.buffersB,
                         slack);
  };
  KOPT_TRY(auto mismatch, mismatchWithin({}));
  if (mismatch) {
    KOPT_TRY(const auto allowed,
             replays_->withRounding(context_, context_.baseline().launches[index],
                                    context_.expected[index], {}));
    if (allowed) {
      KOPT_TRY(mismatch, mismatchWithin(*allowed));
    }
  }
  if (!mismatch)
    return std::nullopt;
  return Failure{CheckId::Timed, Verdict::WrongResult,
                 fmt::format("launch '{}' while timed: {}", launch.name, *mismatch)};
}

TimeOptions DeviceJudge::timeOptions(std::size_t index) const {
  // The launches share the seconds as they share the workload: together their intervals are then
  // the narrowest.
  constexpr double kLeastShare = 0.15;
  TimeOptions options = options_.timing;
  options.budget *= std::clamp(subject().workload.launches[index].weight, kLeastShare, 1.0);
  options.inputSeed = context_.expected[index].inputSeed;
  options.skip = options_.checks.runnerChecks();
  options.slot = fmt::format("time-{}", index);
  options.coldCache = options.coldCache && !warm_.contains(index);
  options.deadline = std::max(options.deadline, Duration(20 * context_.baselineSeconds[index] +
                                                         2 * options.budget.count()));
  if (runner_.device().modelled) // one sample; the instruction limit bounds the launch
    options.deadline = context_.options(0, 0, index, options.slot).deadline;
  return options;
}

/// Times one launch beside the baseline's, in the runner's current process, and adds the samples to
/// `timing`.
Result<bool> DeviceJudge::timeLaunch(const Built &built, std::size_t index, std::uint32_t process,
                                     LaunchTiming &timing, Trial &trial) {
  const Launch &launch = built.launches[index];
  const TimeOptions options = timeOptions(index);
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(const TimingOutcome outcome,
           runner_.time(context_.baseline().module, context_.baseline().launches[index],
                        built.module, launch, options));
  addStages(trial, "time", secondsSince(start), outcome.stages);
  if (outcome.status != RunStatus::Ok) {
    refuse(failureOf(outcome.status, CheckId::Timed,
                     fmt::format("launch '{}' while timing: {}", launch.name, outcome.detail)),
           trial);
    return false;
  }
  if (options_.checks.on(CheckId::Timed)) {
    KOPT_TRY(const auto failure, timedOutputsAgree(index, launch, outcome, trial));
    if (failure) {
      refuse(*failure, trial);
      return false;
    }
  }
  timing.launch = launch.name;
  timing.cacheMode = outcome.cacheMode;
  timing.speedup.modelled = outcome.modelled;
  for (TimingSample sample : outcome.samples) {
    sample.process = process;
    timing.samples.push_back(sample);
  }
  if (!outcome.counters.empty())
    timedCounters_[index] = outcome.counters;
  timedLines_[index] = outcome.lines;
  throttled_.insert(outcome.throttled.begin(), outcome.throttled.end());
  otherLoad_.insert(outcome.otherLoad.begin(), outcome.otherLoad.end());
  return true;
}

Result<bool> DeviceJudge::time(const Built &built, const VerdictPolicy &policy,
                               std::uint32_t processes, Trial &trial) {
  trial.stage = Stage::Time;
  trial.timings.clear(); // left from an earlier timing of the same candidate
  std::erase_if(trial.checks,
                [](const CheckRecord &record) { return record.check == CheckId::Timed; });
  throttled_.clear();
  otherLoad_.clear();
  timedCounters_.clear();
  timedLines_.clear();
  timedModule_ = built.module;
  // Simultaneous intervals: the confidence holds for the intervals of all candidates and launches
  // together.
  const double comparisons = double(std::max(1, policy.candidates)) * double(built.launches.size());
  const double confidence = 1 - (1 - policy.confidence) / comparisons;
  std::vector<LaunchTiming> timings(built.launches.size());
  for (std::uint32_t process = 0; process < processes; ++process) {
    // The process in which the candidate won may have suited it by chance, so use fresh ones only.
    if (processes > 1)
      runner_.renew();
    for (std::size_t i = 0; i < built.launches.size(); ++i) {
      KOPT_TRY(const bool timed, timeLaunch(built, i, process, timings[i], trial));
      if (!timed)
        return false;
    }
  }
  const StageTimer timer(trial, "time/statistics");
  std::vector<Speedup> speedups;
  std::vector<double> weights;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    LaunchTiming &timing = timings[i];
    const bool modelled = timing.speedup.modelled;
    timing.speedup = processes > 1 ? blockedSpeedup(timing.samples, confidence)
                                   : pairedSpeedup(timing.samples, confidence, modelled);
    std::vector<double> a, b;
    for (const TimingSample &sample : timing.samples) {
      a.push_back(sample.a);
      b.push_back(sample.b);
    }
    timing.baselineSeconds = median(a);
    timing.candidateSeconds = median(b);
    speedups.push_back(timing.speedup);
    weights.push_back(subject().workload.launches[i].weight);
  }
  trial.timings = std::move(timings);
  trial.speedup = combineSpeedups(speedups, weights);
  if (options_.checks.on(CheckId::Timed))
    trial.checks.push_back(
        {CheckId::Timed, CheckState::Passed, fmt::format("{} launches", built.launches.size())});
  const TimingDecision decision = decideVerdict(*trial.speedup, trial.timings, policy);
  trial.verdict = decision.verdict;
  trial.reason = decision.reason;
  std::vector<std::string> doubts;
  if (!throttled_.empty())
    doubts.push_back(fmt::format("the GPU held its clocks down ({})", fmt::join(throttled_, ", ")));
  if (!otherLoad_.empty())
    doubts.push_back(fmt::format("other processes used the GPU ({})", fmt::join(otherLoad_, ", ")));
  if (!doubts.empty()) {
    trial.verdict = Verdict::Ambiguous;
    trial.reason = fmt::format("{} while this was timed, so it is no evidence: {}",
                               fmt::join(doubts, ", and "), decision.reason);
  }
  return true;
}

/// Adds incidents (faults that were not the candidate's and were repaired) to the trial during
/// which they happened.
void DeviceJudge::noteIncidents(Trial &trial) {
  for (Incident &incident : runner_.takeIncidents())
    trial.findings.push_back({"incident", Severity::Note, std::move(incident.what), ""});
}

Status DeviceJudge::profile(const Built &built, Trial &trial) {
  // A modelled device has counted already, to compute the time.
  if (const auto counted = timedCounters_.find(context_.heaviest());
      timedModule_ == built.module && counted != timedCounters_.end()) {
    trial.counters = counted->second;
    trial.counterSource = toString(runner_.device().kind);
    return {};
  }
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(ProfileOutcome outcome,
           device_.profile(built.module, built.path, built.launches[context_.heaviest()]));
  addStages(trial, "profile", secondsSince(start), outcome.stages);
  if (outcome.status != RunStatus::Ok) {
    trial.findings.push_back({"profile", Severity::Note, "no counters: " + outcome.detail, ""});
    return {};
  }
  trial.counters = std::move(outcome.counters);
  trial.counterSource = outcome.source;
  if (!outcome.detail.empty())
    trial.findings.push_back({"profile", Severity::Note, outcome.detail, ""});
  return {};
}

Result<std::vector<LineCost>> DeviceJudge::linesOfCode(const Candidate &candidate,
                                                       const std::string &candidateHash) const {
  KOPT_TRY(const RenderedSlice rendered,
           renderSlice(subject().sliceText, subject().kernel, subject().specialization, candidate));
  BuildRequest request = CandidateBuilder::requestOf(
      subject(), options_, rendered, options_.scratch / "lines" / candidateHash / kLinesModule);
  request.flags.push_back("-lineinfo"); // does not change the instructions
  KOPT_CHECK(createDirectories(request.output.parent_path()));
  KOPT_TRY(const BuildOutcome built, toolchain_.build(request));
  if (!built.ok)
    return makeError(ErrorCode::Environment, "it does not build with -lineinfo: " +
                                                 built.log.substr(0, built.log.find('\n')));
  return device_.lines(built.module);
}

DeviceJudge::LineCosts DeviceJudge::costLines(const Trial &trial) const {
  if (runner_.device().modelled || !options_.counters || !device_.lines ||
      options_.depth == Depth::Trial) // no report shows the lines of `kopt trial`
    return {};
  if (isLate()) {
    std::promise<Result<std::vector<LineCost>>> none;
    none.set_value(makeError(ErrorCode::Environment, kNoTime));
    return none.get_future();
  }
  return std::async(std::launch::async,
                    [this, candidate = trial.candidate, hash = trial.candidateHash] {
                      return linesOfCode(candidate, hash);
                    });
}

void DeviceJudge::addHotLines(LineCosts costs, Trial &trial) const {
  const bool isModelled = runner_.device().modelled;
  const auto counted = timedLines_.find(context_.heaviest());
  if (isModelled ? counted == timedLines_.end() || counted->second.empty() : !costs.valid())
    return;
  const StageTimer timer(trial, "profile/lines");
  const auto rendered =
      renderSlice(subject().sliceText, subject().kernel, subject().specialization, trial.candidate);
  if (!rendered)
    return;
  const auto known = isModelled ? Result<std::vector<LineCost>>(counted->second) : costs.get();
  trial.hotLines = hottestLines(known.value_or(std::vector<LineCost>()),
                                isModelled ? LineSource::Emulated : LineSource::Code);
  if (!known)
    trial.hotLines.missing = inWords(known.error());
  if (isModelled)
    trial.hotLines.launch = subject().workload.launches[context_.heaviest()].name;
  const auto places = SliceLines::inPatchedFiles(*rendered, subject().kernel,
                                                 subject().specialization, trial.candidate);
  // Without places, no line is the user's.
  places.value_or(SliceLines())
      .tell(trial.hotLines, rendered->text, isModelled ? kEmulatedSlice : kLinesSlice);
}

/// Starts the processes in which a confirmation times. They take longest to start all at once, and
/// beside compute-sanitizer's, so they start before they are needed; they are idle while one times.
void DeviceJudge::startFreshProcesses() {
  if (!runner_.device().modelled && options_.times && options_.processes > 1)
    runner_.prepareRenewals(options_.processes);
}

/// Verifies and times a loaded module. Writes the verdict to the trial.
Status DeviceJudge::judge(const Candidate &candidate, Built &built, Purpose purpose, Trial &trial) {
  const bool isConfirmation = purpose == Purpose::Confirmation;
  const std::uint64_t freshSeed = seedFrom(fmt::format("{}{}/{}", isConfirmation ? "confirm/" : "",
                                                       options_.seed, candidate.contentHash()));
  VerdictPolicy policy = options_.policy;
  if (isConfirmation) {
    policy.confidence = 0.99;
  } else {
    policy.candidates = 1; // nothing is claimed yet: a claim needs fresh samples
  }
  const bool isLook = options_.depth == Depth::Look && !isConfirmation;
  const Depth depth = isConfirmation || wantsEveryCheck(trial)
                          ? Depth::Win
                          : std::max(options_.depth, Depth::Search);
  if (depth > Depth::Search)
    KOPT_CHECK(learnForWinner(trial));
  // A win is verified on as many inputs as it was found to need when it was first seen.
  Strength strength;
  if (const auto needed = needed_.find(trial.candidateHash);
      isConfirmation && needed != needed_.end())
    strength = needed->second;
  if (isConfirmation || options_.confirmsNext)
    startFreshProcesses();
  const bool isNoisy = !runner_.device().modelled;
  const bool isConfirmedNext = options_.confirmsNext && !isConfirmation;
  const bool isBrief = isConfirmedNext && isNoisy && depth == Depth::Trial;
  const Depth firstDepth = isBrief ? Depth::Search : isLook ? Depth::Look : depth;
  KOPT_TRY(bool verified, verify(candidate, built, freshSeed, strength, firstDepth, trial));
  if (!verified && !options_.keepGoing)
    return {};
  const Trial before = trial;
  LineCosts lines = isConfirmation && verified ? costLines(trial) : LineCosts();
  KOPT_TRY(const bool timed,
           time(built, policy, isConfirmation && isNoisy ? options_.processes : 1, trial));
  if (!verified) { // timed only to see what else would have noticed
    trial.verdict = before.verdict;
    trial.reason = before.reason;
    trial.check = before.check;
    trial.stage = before.stage;
    return {};
  }
  // Verify a gain that is hard to believe more thoroughly instead of refusing it. Do the same for
  // every gain if some wrong versions of the kernel showed only on a few inputs.
  const bool isFaster = timed && trial.verdict == Verdict::Faster;
  if (isFaster && !isConfirmation && !options_.ownLaunchesOnly) // held-out launches confirm nothing
    startFreshProcesses();
  // Of a look, what is faster is verified; of a trial, what no confirmation verifies.
  if (timed && ((isLook && isFaster) || (isBrief && !isFaster))) {
    if (isLook)
      KOPT_CHECK(learnChecks(depth, trial));
    std::erase_if(trial.checks, [&](const CheckRecord &record) {
      return std::ranges::find(checks_, record.check, &Check::id) != checks_.end();
    });
    KOPT_TRY(verified, verify(candidate, built, freshSeed, strength, depth, trial));
    if (verified)
      trial.stage = Stage::Time;
    if (!verified || isBrief)
      return {};
  }
  const bool isDoubtful = isFaster && trial.speedup->estimate > options_.escalateAbove;
  if (isDoubtful || (isFaster && mutations_.draws > 1)) {
    Strength wanted = isDoubtful ? Strength::full() : Strength{};
    wanted.freshDraws = std::max(wanted.freshDraws, mutations_.draws);
    needed_[trial.candidateHash] = wanted;
    trial.findings.push_back(
        {"escalated", Severity::Note,
         "verified again on more inputs, as " +
             (isDoubtful ? inWords(*trial.speedup) + " is hard to believe" : mutations_.inWords()),
         ""});
    const bool isDone =
        strength.freshDraws >= wanted.freshDraws && strength.repeats >= wanted.repeats;
    if (!isDone && !isConfirmedNext) {
      const Stage check = trial.stage;
      KOPT_CHECK(learnForWinner(trial));
      KOPT_TRY(verified, verify(candidate, built, ~freshSeed, wanted,
                                isDoubtful ? Depth::Win : depth, trial));
      if (!verified)
        return {};
      trial.stage = check;
    }
  }
  claim(built.launches,
        isDoubtful && !isConfirmedNext ? Depth::Win
        : isBrief                      ? Depth::Search
                                       : depth,
        trial);
  if (isConfirmation && trial.verdict == Verdict::Faster)
    addHotLines(std::move(lines), trial);
  if (timed && runner_.device().modelled && !isConfirmation)
    KOPT_CHECK(profile(built, trial));
  return {};
}

Result<Trial> DeviceJudge::judge(const Prepared &prepared, Purpose purpose) {
  const auto start = std::chrono::steady_clock::now();
  Trial trial = prepared.trial;
  Built built = prepared.built;
  trial.gpu = device_.name;
  trial.assurance = {};
  KOPT_TRY(const bool loaded, load(built, trial));
  const bool isRun = loaded && fitsWithoutOptIn(trial.candidate, built, trial);
  const Status status = isRun ? judge(trial.candidate, built, purpose, trial) : Status();
  if (loaded)
    runner_.unload(built.module);
  noteIncidents(trial);
  if (!status)
    return tl::unexpected(status.error());
  trial.seconds = prepared.seconds + secondsSince(start);
  trial.purpose = purpose;
  trial.assurance = assuranceSoFar(trial);
  return trial;
}

Result<std::optional<Failure>> DeviceJudge::whyNot(const Candidate &candidate, Built built,
                                                   std::uint64_t freshSeed) {
  Trial trial;
  KOPT_TRY(const bool loaded, load(built, trial));
  if (!loaded)
    return Failure{trial.check, trial.verdict, trial.reason};
  const Result<bool> verified = verify(candidate, built, freshSeed, {}, Depth::Search, trial);
  runner_.unload(built.module);
  if (!verified)
    return tl::unexpected(verified.error());
  if (!*verified)
    return Failure{trial.check, trial.verdict, trial.reason};
  return std::nullopt;
}

Result<std::optional<Speedup>> DeviceJudge::compare(Built one, Built other) {
  Trial unused;
  KOPT_TRY(const bool loadedOne, load(one, unused));
  if (!loadedOne)
    return std::nullopt;
  KOPT_TRY(const bool loadedOther, load(other, unused));
  const auto timeAll = [&]() -> Result<std::optional<Speedup>> {
    std::vector<Speedup> speedups;
    std::vector<double> weights;
    for (std::size_t i = 0; i < one.launches.size(); ++i) {
      TimeOptions options = timeOptions(i);
      options.slot = fmt::format("compare-{}", i);
      KOPT_TRY(const TimingOutcome outcome,
               runner_.time(other.module, other.launches[i], one.module, one.launches[i], options));
      if (outcome.status != RunStatus::Ok)
        return std::nullopt;
      speedups.push_back(
          pairedSpeedup(outcome.samples, options_.policy.confidence, outcome.modelled));
      weights.push_back(subject().workload.launches[i].weight);
    }
    return combineSpeedups(speedups, weights);
  };
  auto speedup = loadedOther ? timeAll() : std::nullopt;
  runner_.unload(one.module);
  if (loadedOther)
    runner_.unload(other.module);
  return speedup;
}

Status DeviceJudge::addCounters(const Prepared &prepared, Trial &trial) {
  if (isLate()) {
    trial.findings.push_back(
        {"profile", Severity::Note, std::string("no counters: ") + kNoTime, ""});
    return {};
  }
  const auto start = std::chrono::steady_clock::now();
  Trial unused;
  Built built = prepared.built;
  KOPT_TRY(const bool loaded, load(built, unused));
  if (!loaded)
    return {}; // the trial stays without counters
  std::erase_if(trial.findings, [](const Finding &finding) { return finding.id == "profile"; });
  const Status status = profile(built, trial);
  runner_.unload(built.module);
  trial.seconds += secondsSince(start);
  return status;
}

Assurance DeviceJudge::assuranceSoFar(const Trial &trial) const {
  std::vector<AssuranceGap> others = trial.assurance.gaps;
  others.insert(others.end(), gaps_.begin(), gaps_.end());
  Assurance assurance = assuranceOf(trial.checks, others);
  assurance.counterexamples = trial.assurance.counterexamples;
  assurance.examples = trial.assurance.examples;
  return assurance;
}

/// Why a trial with verdict Faster is not a win. Under `standard`, what was not shown is a gap of
/// the assurance, unless there is a reason to doubt the candidate. Under `strict` any gap is such a
/// reason.
std::optional<Failure> DeviceJudge::whyNotClaimed(const std::vector<Launch> &launches, Depth depth,
                                                  Trial &trial) const {
  const bool isStrict = options_.assurance == AssurancePolicy::Strict;
  std::optional<Failure> failure;
  if (options_.checks.on(CheckId::Roofline))
    failure = belowFloor(trial, launches, runner_.device());
  if (failure)
    return failure;
  if (options_.checks.on(CheckId::Mutants) && learned_ < Depth::Trial) {
    trial.checks.push_back({CheckId::Mutants, CheckState::NotRun, "it runs only for winners"});
  } else if (options_.checks.on(CheckId::Mutants)) {
    const bool isDoubtful = !mutations_.isConclusive();
    const std::string remedy = mutations_.remedy();
    const std::string words =
        mutations_.inWords() + (remedy.empty() ? remedy : "; what would notice: " + remedy);
    if (isDoubtful && isStrict)
      return Failure{CheckId::Mutants, Verdict::Suspect,
                     fmt::format("{}, but the workload does not notice all wrong kernels: {}",
                                 trial.reason, words)};
    if (mutations_.tried + mutations_.untried == 0)
      trial.checks.push_back(
          {CheckId::Mutants, CheckState::NotApplicable, "there are no wrong versions to try"});
    else
      trial.checks.push_back(
          {CheckId::Mutants, isDoubtful ? CheckState::NotRun : CheckState::Passed, words});
  }
  // On a GPU some checks run only for would-be winners, so the confirmation decides.
  const bool isFirstLook = depth == Depth::Search && !runner_.device().modelled;
  failure = whyNoWin(trial, options_.checks,
                     isFirstLook ? AssurancePolicy::Standard : options_.assurance);
  if (failure)
    return failure;
  for (const OpenObligation &open : openObligations(trial))
    addGap(trial.assurance, {CheckId::Obligations, open.inWords()});
  if (!isStrict || !(depth == Depth::Win || runner_.device().modelled))
    return std::nullopt;
  return whyNotStrict(trial, assuranceSoFar(trial));
}

void DeviceJudge::claim(const std::vector<Launch> &launches, Depth depth, Trial &trial) const {
  if (trial.verdict != Verdict::Faster)
    return;
  if (const auto failure = whyNotClaimed(launches, depth, trial)) {
    trial.verdict = failure->verdict;
    trial.reason = failure->reason;
    trial.check = failure->check;
    if (failure->check != CheckId::None)
      trial.checks.push_back({failure->check, CheckState::Failed, failure->reason});
  }
}

} // namespace kopt
