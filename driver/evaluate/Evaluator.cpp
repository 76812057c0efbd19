// SPDX-License-Identifier: Apache-2.0
#include "driver/evaluate/Evaluator.h"

#include "driver/evaluate/Judge.h"
#include "driver/support/Hash.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace kopt {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds the stages of one call of the runner, and what of its `wall` time none of them had.
void addStages(Trial &trial, const std::string &part, double wall, const StageSeconds &stages) {
  for (const auto &[name, seconds] : stages) {
    trial.stages[name == "lock" ? name : part + "/" + name] += seconds;
    wall -= seconds;
  }
  trial.stages[part + "/other"] += std::max(0.0, wall);
}

/// Adds the time of its life to a stage.
class StageTimer {
public:
  StageTimer(Trial &trial, const char *stage) : trial_(trial), stage_(stage) {}
  ~StageTimer() { trial_.stages[stage_] += secondsSince(start_); }
  StageTimer(const StageTimer &) = delete;
  StageTimer &operator=(const StageTimer &) = delete;

private:
  Trial &trial_;
  const char *stage_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

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

Result<bool> Evaluator::screen(const RenderedSlice &rendered, Trial &trial) const {
  const StageTimer timer(trial, "build/screen");
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

Result<bool> Evaluator::compile(const Candidate &candidate, const RenderedSlice &rendered,
                                const std::filesystem::path &output, Trial &trial, Built &built) const {
  const StageTimer timer(trial, "build/compile");
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
  request.output = output;
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
  built.symbol = request.symbol;
  return true;
}

Result<bool> Evaluator::screenAndCompile(const Candidate &candidate, const std::filesystem::path &output,
                                         Prepared &prepared) const {
  Trial &trial = prepared.trial;
  const auto rendered = renderSlice(subject_.sliceText, subject_.kernel, subject_.specialization, candidate);
  if (!rendered) {
    trial.verdict = Verdict::Rejected;
    trial.reason = rendered.error().what;
    return false;
  }
  trial.sliceText = rendered->text;
  KOPT_TRY(const bool screened, screen(*rendered, trial));
  if (!screened)
    return false;
  return compile(candidate, *rendered, output, trial, prepared.built);
}

Evaluator::Prepared Evaluator::prepare(const Candidate &candidate, const std::filesystem::path &output) const {
  const auto start = std::chrono::steady_clock::now();
  Prepared prepared;
  prepared.trial.candidate = candidate;
  prepared.trial.candidateHash = candidate.contentHash();
  const Result<bool> ready = screenAndCompile(candidate, output, prepared);
  if (ready)
    prepared.ready = *ready;
  else
    prepared.error = ready.error();
  prepared.seconds = secondsSince(start);
  return prepared;
}

std::filesystem::path Evaluator::nextModule() { return options_.scratch / fmt::format("module-{}", modules_++); }

void Evaluator::buildAhead(const std::vector<Candidate> &candidates) {
  if (options_.buildThreads == 0)
    return;
  if (!builders_)
    builders_ = std::make_unique<JobQueue>(options_.buildThreads);
  for (const Candidate &candidate : candidates) {
    const std::string hash = candidate.contentHash();
    if (ahead_.contains(hash))
      continue;
    auto job = std::make_shared<std::packaged_task<Prepared()>>(
        [this, candidate, output = nextModule()] { return prepare(candidate, output); });
    ahead_.emplace(hash, job->get_future());
    builders_->add([job] { (*job)(); });
  }
}

Evaluator::Prepared Evaluator::take(const Candidate &candidate, double &waited) {
  const auto start = std::chrono::steady_clock::now();
  const std::string hash = candidate.contentHash();
  Prepared prepared;
  if (const auto known = faster_.find(hash); known != faster_.end()) {
    prepared = known->second;
    prepared.trial.stages.clear();
    prepared.seconds = 0;
  } else if (const auto begun = ahead_.find(hash); begun != ahead_.end()) {
    prepared = begun->second.get();
    ahead_.erase(begun);
    prepared.trial.stages["wait"] += secondsSince(start);
  } else {
    prepared = prepare(candidate, nextModule());
  }
  waited = secondsSince(start);
  return prepared;
}

bool Evaluator::load(Built &built, Trial &trial) {
  const StageTimer timer(trial, "load");
  auto loaded = services_.runner.load(built.path, built.symbol);
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
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(const RunOutcome outcome,
           services_.runner.run(built.module, launch, runOptions(expected.inputSeed, poisonSeed, index)));
  addStages(trial, "verify", secondsSince(start), outcome.stages);
  if (outcome.status != RunStatus::Ok) {
    trial.verdict = verdictOf(outcome.status);
    trial.reason = fmt::format("launch '{}': {}", launch.name, outcome.detail);
    return false;
  }
  const StageTimer timer(trial, "verify/judge");
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
    addStages(trial, "verify", fresh.seconds, fresh.stages);
    KOPT_TRY(const bool right, verifyOnce(built, i, fresh, kOtherPoison, trial));
    if (!right)
      return false;
  }
  return true;
}

/// What a timed launch left behind is compared too: code that tells timing from checking is caught here.
Result<bool> Evaluator::timedOutputsAgree(const Launch &launch, const TimingOutcome &outcome, Trial &trial) {
  const StageTimer timer(trial, "time/judge");
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
  std::set<std::string> throttled;
  for (std::size_t i = 0; i < built.launches.size(); ++i) {
    TimeOptions options = options_.timing;
    options.inputSeed = expected_[i].inputSeed;
    options.slot = fmt::format("time-{}", i);
    options.deadline = std::max(options.deadline, Duration(20 * baselineSeconds_[i] + 2 * options.budget.count()));
    const auto start = std::chrono::steady_clock::now();
    KOPT_TRY(const TimingOutcome outcome, services_.runner.time(baseline_.module, baseline_.launches[i], built.module,
                                                                built.launches[i], options));
    addStages(trial, "time", secondsSince(start), outcome.stages);
    if (outcome.status != RunStatus::Ok) {
      trial.verdict = verdictOf(outcome.status);
      trial.reason = fmt::format("launch '{}' while timing: {}", built.launches[i].name, outcome.detail);
      return false;
    }
    KOPT_TRY(const bool right, timedOutputsAgree(built.launches[i], outcome, trial));
    if (!right)
      return false;
    const StageTimer timer(trial, "time/statistics");
    LaunchTiming timing;
    timing.launch = built.launches[i].name;
    timing.samples = outcome.samples;
    timing.cacheMode = outcome.cacheMode;
    throttled.insert(outcome.throttled.begin(), outcome.throttled.end());
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
  if (!throttled.empty()) {
    trial.verdict = Verdict::Ambiguous;
    trial.reason = fmt::format("the GPU held its clocks down ({}) while this was timed, so it is no evidence: {}",
                               fmt::join(throttled, ", "), decision.reason);
  }
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
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(ProfileOutcome outcome,
           services_.profile(built.module, built.path, built.launches[heaviestLaunch()]));
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

Result<Trial> Evaluator::judge(const Candidate &candidate, std::uint64_t freshSeed, const VerdictPolicy &policy,
                               bool isConfirm) {
  const auto start = std::chrono::steady_clock::now();
  double waited = 0;
  Prepared prepared = take(candidate, waited);
  if (prepared.error)
    return tl::unexpected(*prepared.error);
  Trial trial = prepared.trial;
  Built built = prepared.built;
  const auto run = [&]() -> Status {
    if (!prepared.ready || !load(built, trial))
      return {};
    // A confirmation is a second look at code that is known; anything else with known code is no new trial.
    if (!isConfirm && isDuplicate(candidate, built, trial))
      return {};
    KOPT_TRY(const bool verified, verify(built, freshSeed, trial));
    if (!verified)
      return {};
    KOPT_TRY(const bool timed, time(built, policy, trial));
    if (timed && services_.runner.device().modelled && !isConfirm)
      KOPT_CHECK(profile(built, trial));
    return {};
  };
  const Status status = run();
  if (built.module != 0)
    services_.runner.unload(built.module);
  if (!status)
    return tl::unexpected(status.error());
  trial.seconds = prepared.seconds + secondsSince(start) - waited;
  if (trial.verdict == Verdict::Faster)
    faster_.insert_or_assign(trial.candidateHash, std::move(prepared));
  return trial;
}

Status Evaluator::addCounters(Trial &trial) {
  if (!trial.counters.empty() || trial.timings.empty())
    return {};
  const auto start = std::chrono::steady_clock::now();
  double waited = 0;
  Prepared prepared = take(trial.candidate, waited);
  if (prepared.error)
    return tl::unexpected(*prepared.error);
  Trial unused;
  if (!prepared.ready || !load(prepared.built, unused))
    return {}; // what an earlier, interrupted run built is built no more: it goes without
  std::erase_if(trial.findings, [](const Finding &finding) { return finding.id == "profile"; });
  const Status status = profile(prepared.built, trial);
  services_.runner.unload(prepared.built.module);
  trial.seconds += secondsSince(start);
  return status;
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
