// SPDX-License-Identifier: Apache-2.0
#include "driver/evaluate/Evaluator.h"

#include "driver/evaluate/Judge.h"
#include "driver/support/Hash.h"
#include "driver/verify/Claim.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace kopt {

namespace {

std::uint64_t seedFrom(const std::string &text) { return std::stoull(hashHex(text).substr(0, 15), nullptr, 16); }

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
  case Verdict::Suspect: return "Suspect";
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

const char *toString(GateState state) {
  switch (state) {
  case GateState::Passed: return "passed";
  case GateState::Failed: return "failed";
  case GateState::NotRun: return "not run";
  }
  return "unknown";
}

Evaluator::Evaluator(EvaluatorServices services, Subject subject, EvaluatorOptions options)
    : services_(std::move(services)), options_(std::move(options)),
      bench_(services_.runner, std::move(subject), options_.seed, options_.layers),
      gates_(makeGates(options_.layers, {services_.frontend, services_.toolchain}, {baselineRequest(), options_.scratch})) {}

BuildRequest Evaluator::baselineRequest() const {
  BuildRequest request;
  request.expression = subject().specialization.expression;
  if (!subject().specialization.fileLocal)
    request.symbol = subject().specialization.symbol;
  request.arch = options_.arch;
  request.flags = subject().kernel.compileFlags;
  request.directory = subject().kernel.directory;
  return request;
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
  KOPT_TRY(trial.findings, services_.frontend.screen(subject().sliceText, rendered.text, subject().kernel,
                                                     rendered.expression));
  if (!options_.layers.on("screen"))
    return true;
  for (const Finding &finding : trial.findings)
    if (finding.severity == "reject")
      return refuse({"screen", Verdict::Rejected,
                     fmt::format("{}{}{}", finding.message, finding.where.empty() ? "" : " at ", finding.where)},
                    trial);
  trial.gates.push_back({"screen", GateState::Passed, ""});
  return true;
}

Result<bool> Evaluator::compile(const Candidate &candidate, const RenderedSlice &rendered,
                                const std::filesystem::path &output, Trial &trial, Built &built) const {
  const StageTimer timer(trial, "build/compile");
  if (trial.gate.empty())
    trial.layer = Layer::Build;
  for (const Launch &launch : subject().workload.launches) {
    auto changed = applyToLaunch(subject().kernel, launch, candidate);
    if (!changed) {
      trial.verdict = Verdict::Rejected;
      trial.reason = changed.error().what;
      return false;
    }
    built.launches.push_back(std::move(*changed));
  }
  BuildRequest request = baselineRequest();
  request.sliceText = rendered.text;
  if (rendered.expression != request.expression)
    request.symbol.clear();
  request.expression = rendered.expression;
  request.output = output;
  KOPT_TRY(const BuildOutcome outcome, services_.toolchain.build(request));
  trial.buildLog = outcome.log;
  trial.moduleHash = outcome.hash;
  if (!outcome.ok && !trial.gate.empty())
    return false; // refused already
  if (!outcome.ok) {
    trial.verdict = Verdict::BuildFailed;
    const auto error = outcome.log.find("error");
    const auto lineStart = error == std::string::npos ? 0 : outcome.log.rfind('\n', error) + 1;
    trial.reason = outcome.log.substr(lineStart, outcome.log.find('\n', lineStart) - lineStart);
    return false;
  }
  built.path = outcome.module;
  built.symbol = request.symbol;
  built.hash = outcome.hash;
  built.externals = outcome.externals;
  if (!options_.layers.on("externals") || bench_.baseline().hash.empty())
    return true;
  if (const auto failure = forbiddenExternal(built.externals, bench_.baseline().externals))
    return refuse(*failure, trial);
  trial.gates.push_back({"externals", GateState::Passed, ""});
  return true;
}

Result<bool> Evaluator::screenAndCompile(const Candidate &candidate, const std::filesystem::path &output,
                                         Prepared &prepared) const {
  Trial &trial = prepared.trial;
  const auto rendered = renderSlice(subject().sliceText, subject().kernel, subject().specialization, candidate);
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

std::filesystem::path Evaluator::nextModule() { return options_.scratch / fmt::format("{}", modules_++) / "module"; }

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

Result<bool> Evaluator::load(Built &built, Trial &trial) {
  const StageTimer timer(trial, "load");
  auto loaded = services_.runner.load(built.path, built.symbol);
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

bool Evaluator::isDuplicate(const Candidate &candidate, const Built &built, Trial &trial) {
  const auto [seen, isNew] = seenCode_.emplace(codeKey(trial.moduleHash, built.launches), candidate.title);
  if (!isNew) {
    trial.verdict = Verdict::Duplicate;
    trial.reason = "the same machine code and launch as '" + seen->second + "'";
  }
  return !isNew;
}

bool Evaluator::refuse(const Failure &failure, Trial &trial) const {
  trial.gates.push_back({failure.layer, GateState::Failed, failure.reason});
  if (trial.gate.empty()) {
    trial.gate = failure.layer;
    trial.verdict = failure.verdict;
    trial.reason = failure.reason;
  }
  return options_.keepGoing;
}

Result<bool> Evaluator::verify(const Candidate &candidate, const Built &built, std::uint64_t freshSeed, Strength strength,
                               bool sanitize, Trial &trial) {
  if (trial.gate.empty())
    trial.layer = Layer::Verify;
  Examination examination{candidate, built, freshSeed, strength, sanitize, trial};
  for (const std::unique_ptr<Gate> &gate : gates_) {
    GateRecord record{gate->name(), GateState::Passed, ""};
    KOPT_TRY(const std::optional<Failure> failure, gate->check(bench_, examination, record));
    if (!failure)
      trial.gates.push_back(std::move(record));
    else if (!refuse(*failure, trial))
      return false;
  }
  return trial.gate.empty();
}

/// What a timed launch left behind is compared too: code that tells timing from checking is caught here. On a modelled
/// device with what the baseline is known to leave.
Result<std::optional<Failure>> Evaluator::timedOutputsAgree(std::size_t index, const Launch &launch,
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
void Evaluator::claim(const std::vector<Launch> &launches, Trial &trial) const {
  if (trial.verdict != Verdict::Faster)
    return;
  const bool isWeak = mutations_.isTooWeak() && !options_.acceptWeakWorkload;
  std::optional<Failure> failure;
  if (options_.layers.on("floor"))
    failure = belowFloor(trial, launches, services_.runner.device());
  if (options_.layers.on("mutants")) {
    if (!failure && isWeak)
      failure = Failure{"mutants", Verdict::Suspect,
                        fmt::format("{}, but the workload is too weak to tell: {}", trial.reason, mutations_.inWords())};
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

Result<bool> Evaluator::time(const Built &built, const VerdictPolicy &policy, Trial &trial) {
  trial.layer = Layer::Time;
  trial.timings.clear(); // of an earlier look at the same candidate
  // Simultaneous intervals: the chance that any of the candidates' or launches' intervals misses is the stated one.
  const double comparisons = double(std::max(1, policy.candidates)) * double(built.launches.size());
  const double confidence = 1 - (1 - policy.confidence) / comparisons;
  std::vector<Speedup> speedups;
  std::vector<double> weights;
  std::set<std::string> throttled;
  for (std::size_t i = 0; i < built.launches.size(); ++i) {
    TimeOptions options = options_.timing;
    options.inputSeed = bench_.expected[i].inputSeed;
    options.skip = options_.layers.runnerChecks();
    options.slot = fmt::format("time-{}", i);
    options.deadline = std::max(options.deadline, Duration(20 * bench_.baselineSeconds[i] + 2 * options.budget.count()));
    if (services_.runner.device().modelled) // one sample, of launches whose length the limit of instructions bounds
      options.deadline = bench_.options(0, 0, i, options.slot).deadline;
    const auto start = std::chrono::steady_clock::now();
    KOPT_TRY(const TimingOutcome outcome, services_.runner.time(bench_.baseline().module, bench_.baseline().launches[i],
                                                                built.module, built.launches[i], options));
    addStages(trial, "time", secondsSince(start), outcome.stages);
    if (outcome.status != RunStatus::Ok) {
      refuse(failureOf(outcome.status, "timed",
                       fmt::format("launch '{}' while timing: {}", built.launches[i].name, outcome.detail)),
             trial);
      return false;
    }
    if (options_.layers.on("timed")) {
      KOPT_TRY(const auto failure, timedOutputsAgree(i, built.launches[i], outcome, trial));
      if (failure) {
        refuse(*failure, trial);
        return false;
      }
    }
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
    weights.push_back(subject().workload.launches[i].weight);
    trial.timings.push_back(std::move(timing));
  }
  trial.speedup = combineSpeedups(speedups, weights);
  if (options_.layers.on("timed"))
    trial.gates.push_back({"timed", GateState::Passed, fmt::format("{} launches", built.launches.size())});
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

/// What went wrong beside the candidate, and was put right: it belongs to the record of the trial that it happened to.
void Evaluator::noteIncidents(Trial &trial) {
  for (Incident &incident : services_.runner.takeIncidents())
    trial.findings.push_back({"incident", "note", std::move(incident.what), ""});
}

Status Evaluator::profile(const Built &built, Trial &trial) {
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(ProfileOutcome outcome,
           services_.profile(built.module, built.path, built.launches[bench_.heaviest()]));
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
    if (!prepared.ready)
      return {};
    KOPT_TRY(const bool loaded, load(built, trial));
    if (!loaded)
      return {};
    // A confirmation is a second look at code that is known; anything else with known code is no new trial.
    if (!isConfirm && trial.gate.empty() && isDuplicate(candidate, built, trial))
      return {};
    KOPT_TRY(bool verified, verify(candidate, built, freshSeed, {}, isConfirm || wantsSanitizer(trial), trial));
    if (!verified && !options_.keepGoing)
      return {};
    const Trial before = trial;
    KOPT_TRY(bool timed, time(built, policy, trial));
    if (!verified) { // only asked what else would have noticed
      trial.verdict = before.verdict;
      trial.reason = before.reason;
      trial.gate = before.gate;
      trial.layer = before.layer;
      return {};
    }
    // A gain that is hard to believe is looked at harder, not turned down.
    if (timed && trial.verdict == Verdict::Faster && trial.speedup->estimate > options_.escalateAbove) {
      const Layer layer = trial.layer;
      trial.findings.push_back({"escalated", "note",
                                fmt::format("verified again at full strength, as {} is hard to believe", inWords(*trial.speedup)),
                                ""});
      KOPT_TRY(verified, verify(candidate, built, ~freshSeed, Strength::full(), true, trial));
      if (!verified)
        return {};
      trial.layer = layer;
    }
    claim(built.launches, trial);
    if (timed && services_.runner.device().modelled && !isConfirm)
      KOPT_CHECK(profile(built, trial));
    return {};
  };
  const Status status = run();
  if (built.module != 0)
    services_.runner.unload(built.module);
  noteIncidents(trial);
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
  if (!prepared.ready)
    return {};
  KOPT_TRY(const bool loaded, load(prepared.built, unused));
  if (!loaded)
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
  for (const Launch &launch : subject().workload.launches) {
    auto changed = applyToLaunch(subject().kernel, launch, trial.candidate);
    if (!changed)
      return;
    launches.push_back(std::move(*changed));
  }
  seenCode_.emplace(codeKey(trial.moduleHash, launches), trial.candidate.title);
}

} // namespace kopt
