// SPDX-License-Identifier: Apache-2.0
#include "driver/evaluate/Examiner.h"

#include "driver/evaluate/EmulatedExaminer.h"
#include "driver/evaluate/Judge.h"
#include "driver/support/Hash.h"
#include "driver/verify/Claim.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kopt {

namespace {


} // namespace

Examiner::Examiner(EvaluatorDevice device, Frontend &frontend, Toolchain &toolchain, Subject subject,
                   EvaluatorOptions options, const OpenEmulated &emulate)
    : device_(std::move(device)), runner_(device_.runner), frontend_(frontend), toolchain_(toolchain),
      options_(std::move(options)), bench_(runner_, std::move(subject), options_.seed, options_.layers),
      emulation_(makeEmulation(emulate, frontend_, bench_.subject(), options_)),
      gates_(makeGates(options_.layers, {frontend_, toolchain_, emulation_.get()},
                       {CandidateBuilder::baselineRequest(bench_.subject(), options_), options_.scratch})) {}

Result<bool> Examiner::load(Built &built, Trial &trial) {
  const StageTimer timer(trial, "load");
  auto loaded = runner_.load(built.path, built.symbol);
  if (!loaded && loaded.error().code != ErrorCode::BaselineFailed)
    return tl::unexpected(loaded.error()); // not the module's doing
  if (!loaded) {
    trial.verdict = Verdict::RunFailed;
    trial.reason = loaded.error().what;
    return false;
  }
  trial.resources = *loaded;
  built.module = loaded->id;
  return true;
}

Result<bool> Examiner::verify(const Candidate &candidate, const Built &built, std::uint64_t freshSeed,
                              Strength strength, Depth depth, Trial &trial) {
  if (trial.gate.empty())
    trial.layer = Layer::Verify;
  Examination examination{candidate, built, freshSeed, strength, depth, trial};
  for (const std::unique_ptr<Gate> &gate : gates_) {
    GateRecord record{gate->name(), GateState::Passed, ""};
    KOPT_TRY(const std::optional<Failure> failure, gate->check(bench_, examination, record));
    if (!failure) {
      trial.gates.push_back(std::move(record));
      continue;
    }
    refuse(*failure, trial);
    if (!options_.keepGoing)
      return false;
  }
  return trial.gate.empty();
}

/// What a timed launch left behind is compared too: code that tells timing from checking is caught here. On a modelled
/// device with what the baseline is known to leave.
Result<std::optional<Failure>> Examiner::timedOutputsAgree(std::size_t index, const Launch &launch,
                                                           const TimingOutcome &outcome, Trial &trial) {
  const StageTimer timer(trial, "time/judge");
  const auto &expected = outcome.buffersA.empty() ? bench_.expected[index].buffers : outcome.buffersA;
  for (std::size_t b = 0; b < expected.size() && b < outcome.buffersB.size(); ++b) {
    if (launch.buffers[b].readOnly || expected[b].empty() || outcome.buffersB[b].empty())
      continue;
    KOPT_TRY(const auto mismatch,
             compareBuffers(launch.buffers[b], subject().workload.tolerance, expected[b], outcome.buffersB[b]));
    if (mismatch)
      return Failure{"timed", Verdict::WrongResult,
                     fmt::format("launch '{}' while timed: {}", launch.name, mismatch->describe(launch.buffers[b]))};
  }
  return std::nullopt;
}

/// A trial that came out Faster is one only where every layer had its say.
void Examiner::claim(const std::vector<Launch> &launches, Trial &trial) const {
  if (trial.verdict != Verdict::Faster)
    return;
  const bool isWeak = mutations_.isTooWeak() && !options_.acceptWeakWorkload;
  std::optional<Failure> failure;
  if (options_.layers.on("floor"))
    failure = belowFloor(trial, launches, runner_.device());
  if (options_.layers.on("mutants")) {
    if (!failure && isWeak)
      failure =
          Failure{"mutants", Verdict::Suspect,
                  fmt::format("{}, but the workload is too weak to tell: {}; declare {}, or take it with --accept-weak-workload",
                              trial.reason, mutations_.inWords(), mutations_.remedy())};
    else
      trial.gates.push_back({"mutants", mutations_.tried > 0 ? GateState::Passed : GateState::NotRun,
                             mutations_.tried > 0 ? mutations_.inWords() : "there are no wrong versions to try"});
  }
  if (!failure)
    failure = whyNoWin(trial, options_.layers);
  if (failure) {
    trial.verdict = failure->verdict;
    trial.reason = failure->reason;
    trial.gate = failure->layer;
    if (!failure->layer.empty())
      trial.gates.push_back({failure->layer, GateState::Failed, failure->reason});
  }
}

/// The launch beside the baseline's, in the process that the runner has now: its samples are added to the timing.
Result<bool> Examiner::timeLaunch(const Built &built, std::size_t index, std::uint32_t process, LaunchTiming &timing,
                                  Trial &trial) {
  const Launch &launch = built.launches[index];
  TimeOptions options = options_.timing;
  options.inputSeed = bench_.expected[index].inputSeed;
  options.skip = options_.layers.runnerChecks();
  options.slot = fmt::format("time-{}", index);
  options.deadline =
      std::max(options.deadline, Duration(20 * bench_.baselineSeconds[index] + 2 * options.budget.count()));
  if (runner_.device().modelled) // one sample, of launches whose length the limit of instructions bounds
    options.deadline = bench_.options(0, 0, index, options.slot).deadline;
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(const TimingOutcome outcome,
           runner_.time(bench_.baseline().module, bench_.baseline().launches[index], built.module, launch, options));
  addStages(trial, "time", secondsSince(start), outcome.stages);
  if (outcome.status != RunStatus::Ok) {
    refuse(failureOf(outcome.status, "timed", fmt::format("launch '{}' while timing: {}", launch.name, outcome.detail)),
           trial);
    return false;
  }
  if (options_.layers.on("timed")) {
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
  throttled_.insert(outcome.throttled.begin(), outcome.throttled.end());
  otherLoad_.insert(outcome.otherLoad.begin(), outcome.otherLoad.end());
  return true;
}

Result<bool> Examiner::time(const Built &built, const VerdictPolicy &policy, std::uint32_t processes, Trial &trial) {
  trial.layer = Layer::Time;
  trial.timings.clear(); // of an earlier look at the same candidate
  throttled_.clear();
  otherLoad_.clear();
  // Simultaneous intervals: the chance that any of the candidates' or launches' intervals misses is the stated one.
  const double comparisons = double(std::max(1, policy.candidates)) * double(built.launches.size());
  const double confidence = 1 - (1 - policy.confidence) / comparisons;
  std::vector<LaunchTiming> timings(built.launches.size());
  for (std::uint32_t process = 0; process < processes; ++process) {
    // The process that the candidate won in may have suited it by chance: none of several is that one.
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
  if (options_.layers.on("timed"))
    trial.gates.push_back({"timed", GateState::Passed, fmt::format("{} launches", built.launches.size())});
  const TimingDecision decision = decideVerdict(*trial.speedup, trial.timings, policy);
  trial.verdict = decision.verdict;
  trial.reason = decision.reason;
  std::vector<std::string> doubts;
  if (!throttled_.empty())
    doubts.push_back(fmt::format("the GPU held its clocks down ({})", fmt::join(throttled_, ", ")));
  if (!otherLoad_.empty())
    doubts.push_back(fmt::format("others computed on the GPU ({})", fmt::join(otherLoad_, ", ")));
  if (!doubts.empty()) {
    trial.verdict = Verdict::Ambiguous;
    trial.reason =
        fmt::format("{} while this was timed, so it is no evidence: {}", fmt::join(doubts, ", and "), decision.reason);
  }
  return true;
}

/// What went wrong beside the candidate, and was put right: it belongs to the record of the trial that it happened to.
void Examiner::noteIncidents(Trial &trial) {
  for (Incident &incident : runner_.takeIncidents())
    trial.findings.push_back({"incident", "note", std::move(incident.what), ""});
}

Status Examiner::profile(const Built &built, Trial &trial) {
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(ProfileOutcome outcome, device_.profile(built.module, built.path, built.launches[bench_.heaviest()]));
  addStages(trial, "profile", secondsSince(start), outcome.stages);
  if (outcome.status != RunStatus::Ok) {
    trial.findings.push_back({"profile", "note", "no counters: " + outcome.detail, ""});
    return {};
  }
  trial.counters = std::move(outcome.counters);
  trial.counterSource = outcome.source;
  if (!outcome.detail.empty())
    trial.findings.push_back({"profile", "note", outcome.detail, ""});
  return {};
}

/// What a module that is loaded does. The verdict goes into the trial.
Status Examiner::judge(const Candidate &candidate, Built &built, Purpose purpose, Trial &trial) {
  const bool isConfirmation = purpose == Purpose::Confirmation;
  const std::uint64_t freshSeed =
      seedFrom(fmt::format("{}{}/{}", isConfirmation ? "confirm/" : "", options_.seed, candidate.contentHash()));
  VerdictPolicy policy = options_.policy;
  if (isConfirmation) {
    policy.confidence = 0.99;
    policy.candidates = 1; // one candidate, on samples that did not choose it
  }
  const Depth depth = isConfirmation || wantsEveryLayer(trial) ? Depth::Win : options_.depth;
  KOPT_TRY(bool verified, verify(candidate, built, freshSeed, {}, depth, trial));
  if (!verified && !options_.keepGoing)
    return {};
  const Trial before = trial;
  const bool isNoisy = !runner_.device().modelled;
  KOPT_TRY(const bool timed, time(built, policy, isConfirmation && isNoisy ? options_.processes : 1, trial));
  if (!verified) { // only asked what else would have noticed
    trial.verdict = before.verdict;
    trial.reason = before.reason;
    trial.gate = before.gate;
    trial.layer = before.layer;
    return {};
  }
  // A gain that is hard to believe is looked at harder, not turned down; and each, where only some inputs show a mistake.
  const bool isFaster = timed && trial.verdict == Verdict::Faster;
  const bool isDoubtful = isFaster && trial.speedup->estimate > options_.escalateAbove;
  if (isDoubtful || (isFaster && mutations_.draws > 1)) {
    const Layer layer = trial.layer;
    Strength strength = isDoubtful ? Strength::full() : Strength{};
    strength.freshDraws = std::max(strength.freshDraws, mutations_.draws);
    trial.findings.push_back({"escalated", "note",
                              "verified again on more inputs, as " +
                                  (isDoubtful ? inWords(*trial.speedup) + " is hard to believe" : mutations_.inWords()),
                              ""});
    KOPT_TRY(verified, verify(candidate, built, ~freshSeed, strength, isDoubtful ? Depth::Win : depth, trial));
    if (!verified)
      return {};
    trial.layer = layer;
  }
  claim(built.launches, trial);
  if (timed && runner_.device().modelled && !isConfirmation)
    KOPT_CHECK(profile(built, trial));
  return {};
}

Result<Trial> Examiner::examine(const Prepared &prepared, Purpose purpose) {
  const auto start = std::chrono::steady_clock::now();
  Trial trial = prepared.trial;
  Built built = prepared.built;
  trial.gpu = device_.name;
  KOPT_TRY(const bool loaded, load(built, trial));
  const Status status = loaded ? judge(trial.candidate, built, purpose, trial) : Status();
  if (loaded)
    runner_.unload(built.module);
  noteIncidents(trial);
  if (!status)
    return tl::unexpected(status.error());
  trial.seconds = prepared.seconds + secondsSince(start);
  return trial;
}

Result<std::optional<Failure>> Examiner::whyNot(const Candidate &candidate, Built built, std::uint64_t freshSeed) {
  Trial trial;
  KOPT_TRY(const bool loaded, load(built, trial));
  if (!loaded)
    return Failure{"load", trial.verdict, trial.reason};
  const Result<bool> verified = verify(candidate, built, freshSeed, {}, Depth::Search, trial);
  runner_.unload(built.module);
  if (!verified)
    return tl::unexpected(verified.error());
  if (!*verified)
    return Failure{trial.gate, trial.verdict, trial.reason};
  return std::nullopt;
}

Status Examiner::addCounters(const Prepared &prepared, Trial &trial) {
  const auto start = std::chrono::steady_clock::now();
  Trial unused;
  Built built = prepared.built;
  KOPT_TRY(const bool loaded, load(built, unused));
  if (!loaded)
    return {}; // it goes without
  std::erase_if(trial.findings, [](const Finding &finding) { return finding.id == "profile"; });
  const Status status = profile(built, trial);
  runner_.unload(built.module);
  trial.seconds += secondsSince(start);
  return status;
}

} // namespace kopt
