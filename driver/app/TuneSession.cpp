// SPDX-License-Identifier: Apache-2.0
#include "driver/app/TuneSession.h"
#include "driver/search/diagnose/RuleBook.h"

#include "driver/app/ObserveFlow.h"
#include "driver/app/RunIdentity.h"
#include "driver/app/Search.h"
#include "driver/app/config/Config.h"
#include "driver/judge/HeldOut.h"
#include "driver/model/Version.h"
#include "driver/search/proposers/LlmProposer.h"
#include "driver/search/proposers/ParamsProposer.h"
#include "driver/search/proposers/TransformProposer.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"
#include "driver/workload/observed/SubjectWorkload.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

constexpr int kConfirmations = 3; ///< of the best candidates, until one holds

JudgeOptions judgeOptionsOf(const TuneSettings &settings) {
  JudgeOptions options;
  options.arch = settings.arch;
  options.seed = settings.seed;
  options.policy.minGain = settings.minGain;
  options.acceptWeakWorkload = settings.acceptWeakWorkload;
  return options;
}

SearchIdentity searchIdentityOf(const TuneSettings &settings, std::optional<double> target) {
  SearchIdentity search;
  search.proposers = settings.proposers;
  search.model = settings.model;
  search.batch = settings.batch;
  search.rounds = settings.budget.rounds;
  search.trials = settings.budget.trials;
  search.patience = settings.budget.patience;
  search.target = settings.budget.target ? settings.budget.target : target;
  search.maxModelCalls = settings.maxModelCalls;
  search.maxTokens = settings.maxTokens;
  return search;
}

std::string describe(const Trial &trial) {
  return fmt::format("{:<11} {:<34} {}", toString(trial.verdict), trial.candidate.title,
                     trial.reason);
}

TuneOutcome failedOutcome(const TuneSubject &subject, const Error &error) {
  TuneOutcome outcome;
  outcome.label = subject.label;
  outcome.error = error;
  return outcome;
}

nlohmann::json configOf(const TuneSettings &settings) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto &file : settings.sources.files)
    files.push_back(file.string());
  return {{"files", files},
          {"build_directory", settings.sources.buildDirectory.string()},
          {"flags", settings.sources.flags},
          {"kernels", settings.selection.globs},
          {"device", toString(settings.device.kind)},
          {"gpus", settings.gpus},
          {"model_gpu", settings.device.modelGpu},
          {"arch", settings.arch},
          {"proposers", settings.proposers},
          {"model", settings.model},
          {"rounds", settings.budget.rounds},
          {"trials", settings.budget.trials},
          {"budget_seconds", settings.budget.seconds},
          {"patience", settings.budget.patience},
          {"min_gain", settings.minGain},
          {"batch", settings.batch},
          {"seed", settings.seed}};
}

nlohmann::json deviceJson(const DeviceInfo &device, const std::vector<PooledRunner> &pool,
                          const std::string &toolchain, const std::vector<SandboxLayer> &sandbox) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const PooledRunner &member : pool)
    gpus.push_back(member.name);
  return {{"kind", toString(device.kind)}, {"name", device.name},        {"arch", device.arch},
          {"driver", device.driver},       {"uuid", device.uuid},        {"gpus", gpus},
          {"modelled", device.modelled},   {"l2_bytes", device.l2Bytes}, {"toolchain", toolchain},
          {"sandbox", toJson(sandbox)}};
}

} // namespace

TuneSession::TuneSession(Services services, TuneSettings settings)
    : services_(std::move(services)), settings_(std::move(settings)) {}

TuneSession::~TuneSession() = default;

Result<std::vector<TuneOutcome>> TuneSession::run() {
  KOPT_TRY(bench_, Workbench::open(services_, settings_.sources, settings_.selection,
                                   settings_.device, settings_.sandbox, settings_.gpus));
  KOPT_TRY(rules_, RuleBook::load());
  std::vector<TuneOutcome> outcomes;
  for (const TuneSubject &subject : bench_->subjects()) {
    Result<TuneOutcome> outcome = tune(subject);
    // What stops one kernel stops the next one too only where it is not the kernel's own doing.
    if (!outcome && (outcome.error().code == ErrorCode::Environment ||
                     outcome.error().code == ErrorCode::Interrupted))
      return tl::unexpected(outcome.error());
    outcomes.push_back(outcome ? std::move(*outcome) : failedOutcome(subject, outcome.error()));
  }
  services_.terminal.clear();
  return outcomes;
}

Result<TuneOutcome> TuneSession::tune(const TuneSubject &subject) {
  Search search(subject);
  KOPT_CHECK(stage(search, "prepare the workload", &TuneSession::prepareWorkload));
  if (settings_.dryRun)
    return search.outcome;
  KOPT_CHECK(stage(search, "open the run", &TuneSession::openRun));
  KOPT_CHECK(stage(search, "measure the baseline", &TuneSession::measureBaseline));
  KOPT_CHECK(stage(search, "make the proposers", &TuneSession::makeProposers));
  KOPT_CHECK(stage(search, "search", &TuneSession::runSearch));
  KOPT_CHECK(stage(search, "confirm the winner", &TuneSession::confirmWinner));
  KOPT_CHECK(stage(search, "write the results", &TuneSession::writeResults));
  return search.outcome;
}

Status TuneSession::stage(Search &search, const std::string &name,
                          Status (TuneSession::*step)(Search &)) {
  services_.terminal.status(fmt::format("{}: {}", search.subject.label, name));
  const LoggedStage logged(search.subject.label + ": " + name);
  Status status = (this->*step)(search);
  if (!status) {
    status.error().context.push_back(
        fmt::format("while kopt tried to {} of '{}'", name, search.subject.label));
    const bool resumable = status.error().code == ErrorCode::Interrupted ||
                           status.error().code == ErrorCode::Environment;
    if (search.outcome.run.id != 0 && search.outcome.run.state == "running" && !resumable) {
      search.outcome.run.state = "failed";
      search.outcome.run.stopReason = status.error().what;
      (void)store_->updateRun(search.outcome.run); // the first error is the one to tell
    }
  }
  return status;
}

Status TuneSession::prepareWorkload(Search &search) {
  const TuneSubject &subject = search.subject;
  search.outcome.label = subject.label;
  search.outcome.sandbox = bench_->sandbox().layers();
  KOPT_CHECK(takeWorkload(search));
  if (settings_.budget.target == std::nullopt)
    search.target = subject.declaration.target;
  return {};
}

Status TuneSession::takeWorkload(Search &search) {
  if (!settings_.run.empty() && settings_.dryRun) {
    services_.terminal.line(
        "note: a dry run runs no program: the workload that --run gives was not checked");
    return {};
  }
  if (!settings_.run.empty() && !observed_) {
    KOPT_TRY(observed_, programTrace(services_, settings_.root, settings_.run, bench_->subjects()));
  }
  KOPT_TRY(SubjectWorkload workload, workloadOf(search.subject, observed_, bench_->device().kind));
  for (const std::string &note : workload.notes)
    services_.terminal.line(note);
  search.workload = std::move(workload.workload);
  search.heldOut = std::move(workload.heldOut);
  return {};
}

Status TuneSession::openRun(Search &search) {
  const DeviceInfo &device = bench_->device();
  RunRecord run;
  run.kernel = search.subject.label;
  run.symbol = search.subject.specialization.symbol;
  run.file = search.subject.kernel.file;
  run.inputsHash = hashOf({koptVersion(), search.subject.sliceText, search.subject.label,
                           search.subject.kernel.compileFlags, search.subject.declaration,
                           search.workload, search.heldOut, device.kind, device.name, device.arch,
                           device.driver, bench_->toolchain().name(), judgeOptionsOf(settings_),
                           searchIdentityOf(settings_, search.target)});
  run.configJson = configOf(settings_).dump();
  run.deviceJson =
      deviceJson(device, bench_->pool(), bench_->toolchain().name(), bench_->sandbox().layers())
          .dump();
  run.sliceText = search.subject.sliceText;
  run.startedUtc = services_.clock.utc();
  run.state = "running";

  // Opened no earlier: until here nothing is written, whatever was wrong with the input.
  if (!store_) {
    KOPT_TRY(store_, openStore(settings_.root / ".kopt" / "kopt.db"));
  }
  KOPT_TRY(const std::vector<RunRecord> runs, store_->runs());
  if (settings_.resume)
    for (auto earlier = runs.rbegin(); earlier != runs.rend(); ++earlier)
      if (earlier->inputsHash == run.inputsHash && earlier->state != "failed") {
        search.outcome.run = *earlier;
        KOPT_TRY(const std::vector<Trial> trials, store_->trials(earlier->id));
        for (const Trial &trial : trials)
          search.recorded.emplace(std::pair(trial.candidateHash, trial.purpose), trial);
        KOPT_TRY(const std::vector<Decision> decisions, store_->decisions(earlier->id));
        for (const Decision &decision : decisions)
          search.recordedDecisions.insert(Search::decisionKey(decision));
        services_.terminal.line(
            fmt::format("resuming {}: {} trials are done", earlier->name, trials.size()));
        search.outcome.folder = settings_.output / earlier->name;
        return {};
      }
  if (settings_.resume)
    services_.terminal.line(
        "nothing to resume: no unfinished run has these sources, workload, device and options");
  const std::string prefix = slug(search.subject.label);
  std::size_t number = 1;
  for (const RunRecord &earlier : runs)
    number += earlier.name.starts_with(prefix + "-");
  run.name = fmt::format("{}-{}", prefix, number);
  KOPT_TRY(search.outcome.run, store_->beginRun(run));
  search.outcome.folder = settings_.output / run.name;
  return {};
}

Status TuneSession::measureBaseline(Search &search) {
  JudgeOptions options = judgeOptionsOf(settings_);
  options.buildThreads =
      settings_.buildJobs.value_or(unsigned(defaultBuildJobs(bench_->pool().size())));
  search.options = options;
  KOPT_TRY(search.evaluator,
           bench_->makeJudge(search.subject, search.workload, options, search.outcome.run.name));
  KOPT_TRY(const Trial measured, search.evaluator->measureBaseline());
  if (const AdequacyReport &mutations = search.evaluator->mutations();
      mutations.isTooWeak() && !settings_.acceptWeakWorkload)
    return makeError(
        ErrorCode::BaselineFailed,
        fmt::format("the workload of '{}' cannot tell wrong kernels from the right one: {}",
                    search.subject.label, mutations.inWords()),
        fmt::format(
            "declare {}; or go on with --accept-weak-workload, and have the result reviewed",
            mutations.remedy()),
        fmt::format("{}:{}", search.subject.kernel.file, search.subject.kernel.line));
  search.workload = search.evaluator->subject().workload;
  KOPT_TRY(const Trial baseline, evaluateOrRecall(search, measured.candidate, Purpose::Search,
                                                  [&]() -> Result<Trial> { return measured; }));
  search.history.push_back(baseline);
  search.incumbent = 0;
  for (const Finding &finding : measured.findings)
    if (finding.severity == Severity::Warning) {
      services_.terminal.line("warning: " + finding.message);
      KOPT_CHECK(decide(search, "unchecked", finding.message));
    }
  std::string times;
  for (const LaunchTiming &timing : measured.timings)
    times += fmt::format(" {} {}", timing.launch, formatDuration(timing.baselineSeconds));
  services_.terminal.line(fmt::format("{}: baseline{}{}", search.subject.label, times,
                                      bench_->device().modelled ? " (modelled)" : ""));
  return decide(search, "stage", "baseline measured:" + times);
}

Status TuneSession::makeProposers(Search &search) {
  for (const std::string &name : settings_.proposers) {
    if (name == "params")
      search.proposers.push_back(
          std::make_unique<ParamsProposer>(search.subject.declaration, settings_.seed));
    else if (name == "transform")
      search.proposers.push_back(std::make_unique<TransformProposer>(bench_->frontend()));
    else if (name == "llm")
      KOPT_CHECK(addModelProposer(search));
    else
      return makeError(ErrorCode::Usage, fmt::format("unknown proposer '{}'", name),
                       "known are params, transform and llm");
  }
  return {};
}

Status TuneSession::addModelProposer(Search &search) {
  if (settings_.model.empty())
    return makeError(ErrorCode::Usage, "the proposer 'llm' needs a model",
                     "give one with --model anthropic:MODEL, openai:MODEL or exec:COMMAND");
  if (!model_) {
    KOPT_TRY(model_, makeChatModel(settings_.model, services_.processes, services_.clock));
  }
  LlmOptions options;
  options.maxCalls = settings_.maxModelCalls;
  options.maxTokens = settings_.maxTokens;
  search.proposers.push_back(
      std::make_unique<LlmProposer>(*model_, *store_, search.outcome.run.id, options));
  return {};
}

Result<Trial> TuneSession::evaluateOrRecall(Search &search, const Candidate &candidate,
                                            Purpose purpose,
                                            const std::function<Result<Trial>()> &evaluate) {
  const std::string hash = candidate.contentHash();
  if (const auto recorded = search.recorded.find({hash, purpose});
      recorded != search.recorded.end()) {
    search.evaluator->remember(recorded->second);
    return recorded->second;
  }
  KOPT_TRY(Trial trial, evaluate());
  trial.candidateHash = hash;
  trial.purpose = purpose;
  KOPT_TRY(const Trial stored, store_->recordTrial(search.outcome.run.id, trial));
  return stored;
}

Status TuneSession::decide(Search &search, const std::string &kind, const std::string &text,
                           const std::string &data) {
  Decision decision;
  decision.round = search.round;
  decision.kind = kind;
  decision.text = text;
  decision.data = data;
  // A resumed run decides the same again; what is recorded already is not recorded twice.
  if (const auto known = search.recordedDecisions.find(Search::decisionKey(decision));
      known != search.recordedDecisions.end()) {
    search.recordedDecisions.erase(known);
    return {};
  }
  return store_->recordDecision(search.outcome.run.id, decision);
}

Status TuneSession::runSearch(Search &search) {
  TurnStrategy strategy(settings_.batch);
  const auto start = services_.clock.now();
  Budget budget = settings_.budget;
  if (!budget.target)
    budget.target = search.target;
  search.exhausted.assign(search.proposers.size(), false);
  while (true) {
    const double elapsed = std::chrono::duration<double>(services_.clock.now() - start).count();
    const SearchState state = search.state();
    std::optional<std::string> stop = budgetReached(budget, state, elapsed);
    const SearchStep step = strategy.next(state);
    if (!stop && step.stop)
      stop = step.reason;
    if (stop) {
      search.outcome.judged = search.history.size() - 1;
      search.outcome.run.stopReason = *stop;
      return decide(search, "stop", *stop);
    }
    const std::size_t left =
        budget.trials > 0 ? std::size_t(budget.trials) - search.history.size() : step.limit;
    KOPT_CHECK(runRound(search, step.proposer, std::min(step.limit, left)));
  }
}

Status TuneSession::runRound(Search &search, std::size_t proposer, std::size_t limit) {
  const Trial parent = search.history[search.incumbent];
  const Diagnosis diagnosis = rules_->diagnose(parent.counters);
  const ProposalContext context{search.subject.kernel,
                                search.subject.specialization,
                                search.workload,
                                search.subject.sliceText,
                                parent.candidate,
                                parent,
                                diagnosis,
                                search.history,
                                bench_->device(),
                                search.round};
  KOPT_TRY(const std::vector<Candidate> candidates,
           search.proposers[proposer]->propose(context, limit));
  KOPT_CHECK(decide(search, "propose",
                    fmt::format("round {}: '{}' offers {} candidates", search.round,
                                search.proposers[proposer]->name(), candidates.size())));
  if (candidates.empty()) {
    search.exhausted[proposer] = true;
    return {};
  }
  std::vector<Candidate> unknown;
  for (const Candidate &candidate : candidates)
    if (const auto recorded = search.recorded.find({candidate.contentHash(), Purpose::Search});
        recorded != search.recorded.end())
      search.evaluator->remember(recorded->second);
    else
      unknown.push_back(candidate);
  search.evaluator->begin(unknown);
  std::size_t best = search.incumbent;
  for (const Candidate &candidate : candidates) {
    if (services_.interrupted && *services_.interrupted)
      return makeError(ErrorCode::Interrupted, "interrupted; everything judged so far is saved",
                       "go on with the same command and --resume");
    services_.terminal.status(fmt::format("{}: round {}, trial {}: {}", search.subject.label,
                                          search.round, search.history.size(), candidate.title));
    KOPT_TRY(const Trial trial, evaluateOrRecall(search, candidate, Purpose::Search, [&] {
               return search.evaluator->evaluate(candidate);
             }));
    search.history.push_back(trial);
    services_.terminal.line(describe(trial));
    if (improves(trial, search.history[best], settings_.minGain))
      best = search.history.size() - 1;
  }
  ++search.round;
  if (best == search.incumbent) {
    ++search.roundsSinceGain;
    return {};
  }
  // Rules and prompts of the next round read the incumbent's counters, and nobody reads the
  // others'.
  KOPT_CHECK(addCounters(search, best));
  search.incumbent = best;
  search.roundsSinceGain = 0;
  search.exhausted.assign(search.proposers.size(), false);
  const Trial &accepted = search.history[best];
  return decide(
      search, "accept",
      fmt::format("'{}' is the new incumbent: {}", accepted.candidate.title, accepted.reason),
      nlohmann::json{{"candidate", accepted.candidateHash}, {"speedup", accepted.speedup->estimate}}
          .dump());
}

/// Counters of a trial that the report or the next round reads, where it has none yet.
Status TuneSession::addCounters(Search &search, std::size_t index) {
  Trial &trial = search.history[index];
  if (!trial.counters.empty())
    return {};
  services_.terminal.status(
      fmt::format("{}: profiling {}", search.subject.label, trial.candidate.title));
  KOPT_CHECK(search.evaluator->addCounters(trial));
  return store_->recordCounters(trial);
}

Status TuneSession::confirmWinner(Search &search) {
  // The best first; the winner of many noisy comparisons is flattered, so only fresh samples count.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < search.history.size(); ++i)
    if (search.history[i].verdict == Verdict::Faster && search.history[i].speedup)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return search.history[a].speedup->estimate > search.history[b].speedup->estimate;
  });
  if (order.size() > kConfirmations)
    order.resize(kConfirmations);
  for (const std::size_t index : order) {
    const Trial &chosen = search.history[index];
    KOPT_TRY(
        const Trial confirmed,
        evaluateOrRecall(search, chosen.candidate, Purpose::Confirmation, [&]() -> Result<Trial> {
          KOPT_TRY(Trial trial, search.evaluator->confirm(chosen.candidate));
          if (trial.verdict == Verdict::Faster && !search.heldOut.empty())
            KOPT_CHECK(judgeHeldOut(
                [&](const Workload &workload, const JudgeOptions &options) {
                  return bench_->makeJudge(search.subject, workload, options, "held-out");
                },
                search.workload, search.heldOut, search.options, trial));
          return trial;
        }));
    KOPT_CHECK(
        decide(search, confirmed.verdict == Verdict::Faster ? "confirm" : "reject",
               fmt::format("'{}' on fresh samples: {}", chosen.candidate.title, confirmed.reason),
               nlohmann::json{{"candidate", chosen.candidateHash}}.dump()));
    if (confirmed.verdict != Verdict::Faster)
      continue;
    KOPT_CHECK(addCounters(search, index));
    search.outcome.winner = chosen;
    search.outcome.winner->speedup = confirmed.speedup;
    search.outcome.winner->timings = confirmed.timings;
    search.outcome.winner->checks =
        confirmed.checks; // all layers: the first look left out those for winners
    search.outcome.winner->reason = confirmed.reason;
    search.outcome.run.winnerHash = chosen.candidateHash;
    return {};
  }
  return decide(search, "stop", "no candidate was faster on fresh samples: nothing to apply");
}

} // namespace kopt
