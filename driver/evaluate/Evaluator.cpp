// SPDX-License-Identifier: Apache-2.0
#include "driver/evaluate/Evaluator.h"

#include "driver/evaluate/Judge.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kopt {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::uint64_t seedFrom(const std::string &text) { return std::stoull(hashHex(text).substr(0, 15), nullptr, 16); }

Verdict verdictOf(RunStatus status) {
  switch (status) {
  case RunStatus::TimedOut:
    return Verdict::TimedOut;
  case RunStatus::GuardTouched:
  case RunStatus::InputChanged:
  case RunStatus::Uninitialised:
    return Verdict::WrongResult;
  default:
    return Verdict::RunFailed;
  }
}

} // namespace

const char *toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Faster: return "Faster";
  case Verdict::Same: return "Same";
  case Verdict::Slower: return "Slower";
  case Verdict::Ambiguous: return "Ambiguous";
  case Verdict::Rejected: return "Rejected";
  case Verdict::BuildFailed: return "BuildFailed";
  case Verdict::WrongResult: return "WrongResult";
  case Verdict::RunFailed: return "RunFailed";
  case Verdict::TimedOut: return "TimedOut";
  case Verdict::Duplicate: return "Duplicate";
  }
  return "Unknown";
}

const char *toString(Layer layer) {
  switch (layer) {
  case Layer::Screen: return "screen";
  case Layer::Build: return "build";
  case Layer::Verify: return "verify";
  case Layer::Time: return "time";
  case Layer::Profile: return "profile";
  }
  return "unknown";
}

Evaluator::Evaluator(EvaluatorServices services, Subject subject, EvaluatorOptions options)
    : services_(std::move(services)), subject_(std::move(subject)), options_(std::move(options)) {}

RunOptions Evaluator::runOptions(std::uint64_t inputSeed, std::uint64_t poisonSeed, std::size_t launch) const {
  RunOptions options;
  options.inputSeed = inputSeed;
  options.poisonSeed = poisonSeed;
  options.slot = fmt::format("run-{}", launch);
  // 20 times the baseline, at least 2 s: research on hanging candidates puts honest slow ones well inside that.
  const double baseline = launch < baselineSeconds_.size() ? baselineSeconds_[launch] : 0;
  options.deadline = Duration(baseline > 0 ? std::max(2.0, 20 * baseline) : 120.0);
  if (services_.runner.device().modelled) {
    // The instruction limit ends a hang at the same point each time; the clock only catches what never retires any.
    options.instructionLimit = launch < instructionLimits_.size() ? instructionLimits_[launch] : 0;
    options.deadline = std::max(options.deadline, Duration(60));
  }
  return options;
}

std::string Evaluator::codeKey(const std::string &moduleHash, const std::vector<Launch> &launches) const {
  std::string key = moduleHash;
  for (const Launch &launch : launches)
    key += fmt::format("|{},{},{}/{},{},{}/{}", launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                       launch.block.y, launch.block.z, launch.sharedBytes);
  return key;
}

Result<bool> Evaluator::screen(const Candidate &candidate, const RenderedSlice &rendered, Trial &trial) {
  trial.layer = Layer::Screen;
  KOPT_TRY(trial.findings, services_.frontend.screen(subject_.sliceText, rendered.text, subject_.kernel,
                                                     rendered.expression));
  for (const Finding &finding : trial.findings)
    if (finding.severity == "reject") {
      trial.verdict = Verdict::Rejected;
      trial.reason = fmt::format("{}{}{}", finding.message, finding.where.empty() ? "" : " at ", finding.where);
      return false;
    }
  return true;
}

Result<bool> Evaluator::build(const Candidate &candidate, const RenderedSlice &rendered, Trial &trial, Built &built) {
  trial.layer = Layer::Build;
  for (const Launch &launch : subject_.workload.launches) {
    auto changed = applyToLaunch(subject_.kernel, launch, candidate);
    if (!changed) {
      trial.verdict = Verdict::Rejected;
      trial.reason = changed.error().what;
      return false;
    }
    built.launches.push_back(std::move(*changed));
  }
  BuildRequest request;
  request.sliceText = rendered.text;
  request.expression = rendered.expression;
  if (rendered.expression == subject_.specialization.expression && !subject_.specialization.fileLocal)
    request.symbol = subject_.specialization.symbol;
  request.arch = options_.arch;
  request.flags = subject_.kernel.compileFlags;
  request.directory = subject_.kernel.directory;
  request.output = options_.scratch / fmt::format("module-{}", built_++);
  KOPT_TRY(const BuildOutcome outcome, services_.toolchain.build(request));
  trial.buildLog = outcome.log;
  trial.moduleHash = outcome.hash;
  if (!outcome.ok) {
    trial.verdict = Verdict::BuildFailed;
    const auto error = outcome.log.find("error");
    const auto lineStart = error == std::string::npos ? 0 : outcome.log.rfind('\n', error) + 1;
    trial.reason = outcome.log.substr(lineStart, outcome.log.find('\n', lineStart) - lineStart);
    return false;
  }
  built.path = outcome.module;
  auto loaded = services_.runner.load(outcome.module, request.symbol);
  if (!loaded) {
    trial.verdict = Verdict::RunFailed;
    trial.reason = loaded.error().what;
    return false;
  }
  trial.resources = *loaded;
  built.module = loaded->id;
  return true;
}

bool Evaluator::isDuplicate(const Candidate &candidate, const Built &built, Trial &trial) {
  const auto [seen, isNew] = seenCode_.emplace(codeKey(trial.moduleHash, built.launches), candidate.title);
  if (!isNew) {
    trial.verdict = Verdict::Duplicate;
    trial.reason = "the same machine code and launch as '" + seen->second + "'";
  }
  return !isNew;
}

Result<bool> Evaluator::verifyOnce(const Built &built, std::size_t index, const Expected &expected,
                                   std::uint64_t poisonSeed, Trial &trial) {
  const Launch &launch = built.launches[index];
  KOPT_TRY(const RunOutcome outcome,
           services_.runner.run(built.module, launch, runOptions(expected.inputSeed, poisonSeed, index)));
  if (outcome.status != RunStatus::Ok) {
    trial.verdict = verdictOf(outcome.status);
    trial.reason = fmt::format("launch '{}': {}", launch.name, outcome.detail);
    return false;
  }
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    const Buffer &buffer = launch.buffers[i];
    if (buffer.readOnly)
      continue; // the runner has compared it with what it filled in
    if (buffer.output && i < outcome.unwritten.size() && outcome.unwritten[i] > 0) {
      trial.verdict = Verdict::WrongResult;
      trial.reason = fmt::format("launch '{}': {} elements of '{}' were left unwritten", launch.name,
                                 outcome.unwritten[i], buffer.name);
      return false;
    }
    KOPT_TRY(const auto mismatch, compareBuffers(buffer, subject_.workload.tolerance, expected.buffers[i],
                                                 outcome.buffers[i]));
    if (mismatch) {
      trial.verdict = Verdict::WrongResult;
      trial.reason = fmt::format("launch '{}': {}", launch.name, mismatch->describe(buffer));
      return false;
    }
  }
  return true;
}

Result<bool> Evaluator::verify(const Built &built, std::uint64_t freshSeed, Trial &trial) {
  trial.layer = Layer::Verify;
  for (std::size_t i = 0; i < built.launches.size(); ++i) {
    // The fixed inputs twice, with different poisons: what depends on stale memory or on luck differs.
    for (const std::uint64_t poison : {kPoison, kOtherPoison}) {
      KOPT_TRY(const bool right, verifyOnce(built, i, expected_[i], poison, trial));
      if (!right)
        return false;
    }
    // Inputs drawn from the frozen candidate's own hash: no candidate can have been made for them.
    KOPT_TRY(const Expected fresh, expect(i, freshSeed + i, kPoison, "fresh"));
    KOPT_TRY(const bool right, verifyOnce(built, i, fresh, kOtherPoison, trial));
    if (!right)
      return false;
  }
  return true;
}

/// What a timed launch left behind is compared too: code that tells timing from checking is caught here.
Result<bool> Evaluator::timedOutputsAgree(const Launch &launch, const TimingOutcome &outcome, Trial &trial) {
  for (std::size_t b = 0; b < outcome.buffersA.size() && b < outcome.buffersB.size(); ++b) {
    if (launch.buffers[b].readOnly || outcome.buffersA[b].empty() || outcome.buffersB[b].empty())
      continue;
    KOPT_TRY(const auto mismatch, compareBuffers(launch.buffers[b], subject_.workload.tolerance, outcome.buffersA[b],
                                                 outcome.buffersB[b]));
    if (mismatch) {
      trial.verdict = Verdict::WrongResult;
      trial.reason = fmt::format("launch '{}' while timed: {}", launch.name, mismatch->describe(launch.buffers[b]));
      return false;
    }
  }
  return true;
}

Result<bool> Evaluator::time(const Built &built, const VerdictPolicy &policy, Trial &trial) {
  trial.layer = Layer::Time;
  // Simultaneous intervals: the chance that any of the candidates' or launches' intervals misses is the stated one.
  const double comparisons = double(std::max(1, policy.candidates)) * double(built.launches.size());
  const double confidence = 1 - (1 - policy.confidence) / comparisons;
  std::vector<Speedup> speedups;
  std::vector<double> weights;
  for (std::size_t i = 0; i < built.launches.size(); ++i) {
    TimeOptions options = options_.timing;
    options.inputSeed = expected_[i].inputSeed;
    options.slot = fmt::format("time-{}", i);
    options.deadline = std::max(options.deadline, Duration(20 * baselineSeconds_[i] + 2 * options.budget.count()));
    KOPT_TRY(const TimingOutcome outcome, services_.runner.time(baseline_.module, baseline_.launches[i], built.module,
                                                                built.launches[i], options));
    if (outcome.status != RunStatus::Ok) {
      trial.verdict = verdictOf(outcome.status);
      trial.reason = fmt::format("launch '{}' while timing: {}", built.launches[i].name, outcome.detail);
      return false;
    }
    KOPT_TRY(const bool right, timedOutputsAgree(built.launches[i], outcome, trial));
    if (!right)
      return false;
    LaunchTiming timing;
    timing.launch = built.launches[i].name;
    timing.samples = outcome.samples;
    timing.cacheMode = outcome.cacheMode;
    timing.speedup = pairedSpeedup(outcome.samples, confidence, outcome.modelled);
    std::vector<double> a, b;
    for (const TimingSample &sample : outcome.samples) {
      a.push_back(sample.a);
      b.push_back(sample.b);
    }
    timing.baselineSeconds = median(a);
    timing.candidateSeconds = median(b);
    speedups.push_back(timing.speedup);
    weights.push_back(subject_.workload.launches[i].weight);
    trial.timings.push_back(std::move(timing));
  }
  trial.speedup = combineSpeedups(speedups, weights);
  const TimingDecision decision = decideVerdict(*trial.speedup, trial.timings, policy);
  trial.verdict = decision.verdict;
  trial.reason = decision.reason;
  return true;
}

/// The launch that stands for the workload: rules speak of what costs most.
std::size_t Evaluator::heaviestLaunch() const {
  const std::vector<Launch> &launches = subject_.workload.launches;
  return std::size_t(std::max_element(launches.begin(), launches.end(),
                                      [](const Launch &a, const Launch &b) { return a.weight < b.weight; }) -
                     launches.begin());
}

Status Evaluator::profile(const Built &built, Trial &trial) {
  KOPT_TRY(ProfileOutcome outcome,
           services_.profile(built.module, built.path, built.launches[heaviestLaunch()]));
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

Result<Trial> Evaluator::judge(const Candidate &candidate, std::uint64_t freshSeed, const VerdictPolicy &policy,
                               bool isConfirm) {
  const auto start = std::chrono::steady_clock::now();
  Trial trial;
  trial.candidate = candidate;
  trial.candidateHash = candidate.contentHash();
  Built built;
  const auto run = [&]() -> Status {
    const auto rendered = renderSlice(subject_.sliceText, subject_.kernel, subject_.specialization, candidate);
    if (!rendered) {
      trial.verdict = Verdict::Rejected;
      trial.reason = rendered.error().what;
      return {};
    }
    trial.sliceText = rendered->text;
    KOPT_TRY(const bool screened, screen(candidate, *rendered, trial));
    if (!screened)
      return {};
    KOPT_TRY(const bool loaded, build(candidate, *rendered, trial, built));
    if (!loaded)
      return {};
    // A confirmation is a second look at code that is known; anything else with known code is no new trial.
    if (!isConfirm && isDuplicate(candidate, built, trial))
      return {};
    KOPT_TRY(const bool verified, verify(built, freshSeed, trial));
    if (!verified)
      return {};
    KOPT_TRY(const bool timed, time(built, policy, trial));
    const bool worthProfiling = trial.verdict == Verdict::Faster || services_.runner.device().modelled;
    if (timed && worthProfiling && !isConfirm)
      KOPT_CHECK(profile(built, trial));
    return {};
  };
  const Status status = run();
  if (built.module != 0)
    services_.runner.unload(built.module);
  if (!status)
    return tl::unexpected(status.error());
  trial.seconds = secondsSince(start);
  return trial;
}

Result<Trial> Evaluator::evaluate(const Candidate &candidate) {
  return judge(candidate, seedFrom(fmt::format("{}/{}", options_.seed, candidate.contentHash())), options_.policy, false);
}

Result<Trial> Evaluator::confirm(const Candidate &candidate) {
  VerdictPolicy policy = options_.policy;
  policy.confidence = 0.99;
  policy.candidates = 1; // one candidate, on samples that did not choose it
  return judge(candidate, seedFrom(fmt::format("confirm/{}/{}", options_.seed, candidate.contentHash())), policy, true);
}

void Evaluator::remember(const Trial &trial) {
  if (trial.moduleHash.empty() || trial.verdict == Verdict::BuildFailed || trial.verdict == Verdict::Duplicate)
    return;
  std::vector<Launch> launches;
  for (const Launch &launch : subject_.workload.launches) {
    auto changed = applyToLaunch(subject_.kernel, launch, trial.candidate);
    if (!changed)
      return;
    launches.push_back(std::move(*changed));
  }
  seenCode_.emplace(codeKey(trial.moduleHash, launches), trial.candidate.title);
}

} // namespace kopt
