// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/CandidateTimer.h"

#include "driver/judge/Statistics.h"
#include "driver/judge/context/CompareBuffers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kopt {
namespace {

/// If a launch timed with a cold L2 takes at least this many times its seconds in the program, it
/// is timed with a warm L2, too. A candidate may need the cache where the baseline hardly does: one
/// whose baseline took 1 % longer with a cold L2 took 7 % longer itself.
constexpr double kColderBy = 1.005;
/// The least share of the seconds for timing that a launch gets.
constexpr double kLeastShare = 0.15;

/// How many times as fast the version is on each launch, and together.
void addSpeedups(const std::vector<Launch> &launches, Objective objective, double confidence,
                 std::uint32_t processes, std::vector<LaunchTiming> timings, Trial &trial) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    LaunchTiming &timing = timings[i];
    timing.speedup = processes > 1
                         ? blockedSpeedup(timing.samples, confidence)
                         : pairedSpeedup(timing.samples, confidence, timing.speedup.modelled);
    std::vector<double> a, b;
    for (const TimingSample &sample : timing.samples) {
      a.push_back(sample.a);
      b.push_back(sample.b);
    }
    timing.baselineSeconds = median(a);
    timing.candidateSeconds = median(b);
    weights.push_back(launches[i].weight);
  }
  trial.timings = std::move(timings);
  trial.speedup = combineTimings(trial.timings, weights, objective);
}

} // namespace

/// Compares the outputs of a timed launch, too, as the check 'outputs' does. This catches code that
/// behaves differently when it is timed. On a modelled device the baseline's known results are
/// used.
Result<std::optional<Failure>> CandidateTimer::outputsAgree(std::size_t index, const Launch &launch,
                                                            const TimingOutcome &outcome,
                                                            Trial &trial) {
  const StageTimer timer(trial, "time/judge");
  CheckContext &context = bench_.context;
  const auto &expected =
      outcome.buffersA.empty() ? context.expected[index].buffers : outcome.buffersA;
  const auto mismatchWithin = [&](const std::vector<Slack> &slack) {
    return firstMismatch(launch.buffers, bench_.subject().workload.tolerance, expected,
                         outcome.buffersB, slack);
  };
  KOPT_TRY(auto mismatch, mismatchWithin({}));
  if (mismatch) {
    KOPT_TRY(const auto allowed,
             weighing_.widenedForWorkload(context, context.baseline().launches[index],
                                          context.expected[index], {}, trial));
    if (allowed) {
      KOPT_TRY(mismatch, mismatchWithin(*allowed));
    }
  }
  if (!mismatch)
    return std::nullopt;
  return Failure{CheckId::Timed, Verdict::WrongResult,
                 fmt::format("launch '{}' while timed: {}", launch.name, *mismatch)};
}

TimeOptions CandidateTimer::timeOptions(std::size_t index) const {
  const CheckContext &context = bench_.context;
  // The launches share the seconds as they share the workload: together their intervals are then
  // the narrowest.
  TimeOptions options = bench_.options.timing;
  options.budget *= std::clamp(context.baseline().launches[index].weight, kLeastShare, 1.0);
  options.inputSeed = context.expected[index].inputSeed;
  options.skip = bench_.options.checks.runnerChecks();
  options.slot = fmt::format("time-{}", index);
  options.coldCache = options.coldCache && !warm_.contains(index);
  options.deadline = std::max(
      options.deadline, Duration(20 * context.baselineSeconds[index] + 2 * options.budget.count()));
  if (bench_.isModelled()) // one sample; the instruction limit bounds the launch
    options.deadline = context.options(0, 0, index, options.slot).deadline;
  return options;
}

/// Times one launch beside the baseline's, in the runner's current process, and adds the samples to
/// `timing`.
Result<bool> CandidateTimer::timeLaunch(const Built &built, std::size_t index,
                                        std::uint32_t process, LaunchTiming &timing, Trial &trial) {
  const Launch &launch = built.launches[index];
  const Built &baseline = bench_.context.baseline();
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(const TimingOutcome outcome,
           bench_.runner().time(baseline.module, baseline.launches[index], built.module, launch,
                                timeOptions(index)));
  addStages(trial, "time", secondsSince(start), outcome.stages);
  std::optional<Failure> failure;
  if (outcome.status != RunStatus::Ok) {
    failure = failureOf(outcome.status, CheckId::Timed,
                        fmt::format("launch '{}' while timing: {}", launch.name, outcome.detail));
  } else if (bench_.options.checks.on(CheckId::Timed)) {
    KOPT_TRY(failure, outputsAgree(index, launch, outcome, trial));
  }
  if (failure) {
    refuse(*failure, trial);
    return false;
  }
  timing.launch = launch.name;
  timing.cacheMode = outcome.cacheMode;
  timing.speedup.modelled = outcome.modelled;
  for (TimingSample sample : outcome.samples) {
    sample.process = process;
    timing.samples.push_back(sample);
  }
  if (!outcome.counters.empty())
    counters_[index] = outcome.counters;
  lines_[index] = outcome.lines;
  throttled_.insert(outcome.throttled.begin(), outcome.throttled.end());
  otherLoad_.insert(outcome.otherLoad.begin(), outcome.otherLoad.end());
  return true;
}

Result<bool> CandidateTimer::time(const Built &built, const VerdictPolicy &policy,
                                  std::uint32_t processes, Trial &trial) {
  trial.stage = Stage::Time;
  trial.timings.clear(); // left from an earlier timing of the same candidate
  std::erase_if(trial.checks,
                [](const CheckRecord &record) { return record.check == CheckId::Timed; });
  throttled_.clear();
  otherLoad_.clear();
  counters_.clear();
  lines_.clear();
  timed_ = built.module;
  std::vector<LaunchTiming> timings(built.launches.size());
  for (std::uint32_t process = 0; process < processes; ++process) {
    // The process in which the candidate won may have suited it by chance, so use fresh ones only.
    if (processes > 1)
      bench_.runner().renew();
    for (std::size_t i = 0; i < built.launches.size(); ++i) {
      KOPT_TRY(const bool timed, timeLaunch(built, i, process, timings[i], trial));
      if (!timed)
        return false;
    }
  }
  const StageTimer timer(trial, "time/statistics");
  // Simultaneous intervals: the confidence holds for the intervals of all candidates and launches
  // together.
  const double comparisons = double(std::max(1, policy.candidates)) * double(built.launches.size());
  addSpeedups(bench_.context.baseline().launches, bench_.subject().workload.objective,
              1 - (1 - policy.confidence) / comparisons, processes, std::move(timings), trial);
  decide(policy, trial);
  return true;
}

void CandidateTimer::decide(const VerdictPolicy &policy, Trial &trial) const {
  if (bench_.options.checks.on(CheckId::Timed))
    trial.checks.push_back(
        {CheckId::Timed, CheckState::Passed, fmt::format("{} launches", trial.timings.size())});
  const TimingDecision decision = decideVerdict(*trial.speedup, trial.timings, policy);
  trial.verdict = decision.verdict;
  trial.reason = decision.reason;
  std::vector<std::string> doubts;
  if (!throttled_.empty())
    doubts.push_back(fmt::format("the GPU held its clocks down ({})", fmt::join(throttled_, ", ")));
  if (!otherLoad_.empty())
    doubts.push_back(fmt::format("other processes used the GPU ({})", fmt::join(otherLoad_, ", ")));
  if (doubts.empty())
    return;
  trial.verdict = Verdict::Ambiguous;
  trial.reason = fmt::format("{} while this was timed, so it is no evidence: {}",
                             fmt::join(doubts, ", and "), decision.reason);
}

Result<std::optional<Speedup>> CandidateTimer::compare(const Built &one, const Built &other) {
  std::vector<Speedup> speedups;
  std::vector<double> weights, seconds;
  for (std::size_t i = 0; i < one.launches.size(); ++i) {
    TimeOptions options = timeOptions(i);
    options.slot = fmt::format("compare-{}", i);
    KOPT_TRY(const TimingOutcome outcome,
             bench_.runner().time(other.module, other.launches[i], one.module, one.launches[i],
                                  options));
    if (outcome.status != RunStatus::Ok)
      return std::nullopt;
    speedups.push_back(
        pairedSpeedup(outcome.samples, bench_.options.policy.confidence, outcome.modelled));
    weights.push_back(bench_.context.baseline().launches[i].weight);
    std::vector<double> others;
    for (const TimingSample &sample : outcome.samples)
      others.push_back(sample.a);
    seconds.push_back(median(std::move(others)));
  }
  return combineSpeedups(speedups, weights, bench_.subject().workload.objective, seconds);
}

/// Chooses the launches to time with a warm L2 cache: as the options say, or else the captured ones
/// whose time in the program is nearer to the time with a warm cache. Returns true if there is one.
Result<bool> CandidateTimer::chooseCacheModes(const Trial &cold) {
  const Built &baseline = bench_.context.baseline();
  const CacheMode wanted = bench_.options.cacheMode;
  for (std::size_t i = 0; i < cold.timings.size() && wanted != CacheMode::Cold; ++i) {
    if (wanted == CacheMode::Warm && cold.timings[i].cacheMode == CacheMode::Cold) {
      warm_.insert(i);
      continue;
    }
    const Launch &launch = baseline.launches[i];
    const auto known = bench_.options.programSeconds.find(launch.name);
    if (known == bench_.options.programSeconds.end() ||
        cold.timings[i].cacheMode != CacheMode::Cold)
      continue;
    const double inProgram = known->second, coldSeconds = cold.timings[i].baselineSeconds;
    if (coldSeconds < kColderBy * inProgram)
      continue;
    TimeOptions options = timeOptions(i);
    options.budget /= 4; // a median is enough
    options.coldCache = false;
    options.slot = fmt::format("warm-{}", i);
    KOPT_TRY(const TimingOutcome warm,
             bench_.runner().time(baseline.module, launch, baseline.module, launch, options));
    if (warm.status != RunStatus::Ok || warm.samples.empty())
      continue;
    std::vector<double> seconds;
    for (const TimingSample &sample : warm.samples)
      seconds.push_back(sample.a);
    if (std::abs(std::log(median(std::move(seconds)) / inProgram)) <
        std::abs(std::log(coldSeconds / inProgram)))
      warm_.insert(i);
  }
  return !warm_.empty();
}

Status CandidateTimer::timeBaseline(Trial &trial) {
  Built &baseline = bench_.context.baseline();
  VerdictPolicy policy = bench_.options.policy;
  policy.candidates = 1;
  const auto timeOnce = [&]() -> Result<bool> {
    const auto start = std::chrono::steady_clock::now();
    KOPT_TRY(const bool timed, time(baseline, policy, 1, trial));
    bench_.left.setTiming(secondsSince(start));
    return timed;
  };
  KOPT_TRY(bool timed, timeOnce());
  if (timed) {
    KOPT_TRY(const bool isAnyWarm, chooseCacheModes(trial));
    if (isAnyWarm) {
      KOPT_TRY(timed, timeOnce());
    }
  }
  const Subject &subject = bench_.subject();
  if (!timed)
    return baselineFailed(subject,
                          fmt::format("kernel '{}': {}", subject.kernel.name, trial.reason));
  // The baseline against itself is the control: it must be neither faster nor slower.
  if (trial.verdict == Verdict::Faster || trial.verdict == Verdict::Slower)
    trial.findings.push_back(
        {"control", Severity::Warning,
         "the baseline measured against itself is not the same: " + trial.reason +
             "; this machine is too noisy for small differences",
         ""});
  if (!throttled_.empty() || !otherLoad_.empty())
    trial.findings.push_back({"control", Severity::Warning, "the baseline: " + trial.reason, ""});
  trial.verdict = Verdict::Same;
  // The user's weights count launches; the workload needs each launch's share of the time.
  double total = 0;
  for (std::size_t i = 0; i < trial.timings.size(); ++i)
    total += baseline.launches[i].weight * trial.timings[i].baselineSeconds;
  for (std::size_t i = 0; total > 0 && i < trial.timings.size(); ++i)
    baseline.launches[i].weight *= trial.timings[i].baselineSeconds / total;
  const std::vector<double> &measured = bench_.options.weights;
  for (std::size_t i = 0; i < std::min(measured.size(), baseline.launches.size()); ++i)
    baseline.launches[i].weight = measured[i];
  return {};
}

const Counters *CandidateTimer::counted(ModuleId module) const {
  const auto known = counters_.find(bench_.context.heaviest());
  return timed_ == module && known != counters_.end() ? &known->second : nullptr;
}

const std::vector<LineCost> *CandidateTimer::lines() const {
  const auto known = lines_.find(bench_.context.heaviest());
  return known == lines_.end() || known->second.empty() ? nullptr : &known->second;
}

} // namespace kopt
