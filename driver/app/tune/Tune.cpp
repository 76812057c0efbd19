// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/Tune.h"

#include "driver/app/KnowledgeFlow.h"
#include "driver/app/ObserveFlow.h"
#include "driver/app/library/LibraryRoof.h"
#include "driver/app/tune/KernelRoof.h"
#include "driver/app/tune/Lessons.h"
#include "driver/app/tune/ModelSeat.h"
#include "driver/app/tune/RunIdentity.h"
#include "driver/app/tune/TerminalObserver.h"
#include "driver/app/tune/TuneResults.h"
#include "driver/judge/HeldOut.h"
#include "driver/judge/RecallingJudge.h"
#include "driver/model/Json.h"
#include "driver/model/Version.h"
#include "driver/report/RunFolder.h"
#include "driver/report/facts/RunHistory.h"
#include "driver/search/Confirmation.h"
#include "driver/search/Trim.h"
#include "driver/search/proposers/ClassProposer.h"
#include "driver/search/proposers/ControlsProposer.h"
#include "driver/search/proposers/GivenProposer.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/search/proposers/LlmProposer.h"
#include "driver/search/proposers/MergeProposer.h"
#include "driver/search/proposers/ParamsProposer.h"
#include "driver/search/proposers/RecallProposer.h"
#include "driver/search/proposers/TransformProposer.h"
#include "driver/source/KernelNames.h"
#include "driver/source/SliceLines.h"
#include "driver/support/CommandWords.h"
#include "driver/support/Hash.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <limits>

namespace kopt {
namespace {

JudgeOptions judgeOptionsOf(const TuneSettings &settings) {
  JudgeOptions options;
  options.arch = settings.arch;
  options.seed = std::uint64_t(settings.options.seed);
  options.policy.minGain = settings.minGain;
  options.policy.candidates = kMostConfirmations;
  options.policy.regressionGuard = settings.options.maxLaunchRegression / 100;
  options.assurance = settings.assurance;
  options.cacheMode = parseEnum<CacheMode>(settings.options.cacheMode).value_or(CacheMode::Unknown);
  return options;
}

/// The target of the settings, or else the one that the kernel declares.
std::optional<double> targetOf(const TuneSettings &settings, const TuneSubject &subject) {
  return settings.budget.target ? settings.budget.target : subject.declaration.target;
}

SearchIdentity searchIdentityOf(const TuneSettings &settings, const TuneSubject &subject,
                                const GivenCandidates &given) {
  SearchIdentity search;
  search.proposers = settings.options.proposers;
  search.model = settings.options.model;
  search.batch = settings.batch;
  search.rounds = settings.budget.rounds;
  search.trials = settings.budget.trials;
  search.patience = settings.budget.patience;
  search.target = targetOf(settings, subject);
  search.targetSeconds = settings.goal.seconds;
  search.maxModelCalls = settings.maxModelCalls;
  search.maxTokens = settings.options.maxTokens;
  search.verifyAll = settings.verifyAll;
  search.strategy = settings.options.strategy;
  search.experience = settings.options.experience;
  search.controls = settings.options.controls;
  search.given = given.notes;
  search.at = settings.at ? settings.at->identity() : "";
  for (const Candidate &candidate : given.candidates)
    search.given.push_back(candidate.contentHash());
  return search;
}

Result<std::unique_ptr<Strategy>> makeStrategy(const TuneSettings &settings,
                                               const TuneSubject &subject,
                                               std::vector<std::string> proposers,
                                               std::vector<double> weights,
                                               const Recalled &recalled) {
  const ResolvedOptions &options = settings.options;
  if (options.strategy == "survey")
    return makeSurveyStrategy({.proposers = proposers, .seed = std::uint64_t(options.seed)});
  KOPT_TRY(const PolicyBook policies, PolicyBook::load());
  if (const PolicySettings *policy = policies.find(options.strategy))
    return makePortfolio({.policy = *policy,
                          .gates = policies.gates(),
                          .proposers = proposers,
                          .followers = {"classes"},
                          .several = {"llm"},
                          .weights = std::move(weights),
                          .objective = settings.goal.objective,
                          .priors = recalled.priors,
                          .precedents = recalled.precedents,
                          .target = targetOf(settings, subject).value_or(0),
                          .minGain = settings.minGain,
                          .patience = std::size_t(settings.budget.patience) * kTrialsOfRound});
  return makeTurnStrategy({.batch = settings.batch,
                           .proposers = proposers,
                           .followers = {"classes"},
                           .weights = std::move(weights),
                           .objective = settings.goal.objective,
                           .minGain = settings.minGain,
                           .rounds = settings.budget.rounds,
                           .patience = settings.budget.patience});
}

std::string newName(const std::string &prefix, const std::vector<RunRecord> &runs) {
  std::size_t number = 1;
  for (const RunRecord &earlier : runs)
    number += earlier.name.starts_with(prefix + "-");
  return fmt::format("{}-{}", prefix, number);
}

/// Candidates are timed in the program only if the two runs that observed it took at most so many
/// seconds.
constexpr double kLongestObserved = 14;

/// The short name of a step of tune() in reports.
std::string stageKey(const std::string &step) {
  static const std::map<std::string, std::string> kKeys = {
      {"prepare the workload", "workload"}, {"open the run", "write"},
      {"measure the baseline", "baseline"}, {"make the proposers", "search"},
      {"confirm the winner", "confirm"},    {"write the results", "write"}};
  const auto known = kKeys.find(step);
  return known == kKeys.end() ? step : known->second;
}

/// Adds how many candidates were judged, and what became of those that were handed in.
void addJudged(TuneOutcome &outcome, const GivenCandidates &given, const SearchHistory &history) {
  outcome.judged = history.trials.size() - 1;
  for (const Trial &trial : history.trials)
    if (const auto file = given.fileOf(trial.candidateHash); !file.empty())
      outcome.given.emplace_back(file, trial);
  for (const Event &event : history.events)
    if (const auto *offer = std::get_if<Offered>(&event.what);
        offer && offer->role == GivenProposer::kName)
      outcome.notes = offer->notes;
}

TuneOutcome failedOutcome(const TuneSubject &subject, const Error &error) {
  TuneOutcome outcome;
  outcome.label = subject.label;
  outcome.error = error;
  return outcome;
}

} // namespace

TuneSession::TuneSession(Services services, TuneSettings settings)
    : clock_(services.clock, [this] { return bench_ ? bench_->queued() : Duration(); }),
      services_{services.processes, clock_.clock(), services.terminal, services.installation,
                services.interrupted},
      settings_(std::move(settings)), planner_(services_, settings_) {}

TuneSession::~TuneSession() = default;

std::optional<double> programSpeedup(const TuneOutcome &outcome) {
  if (!outcome.meanSpeedup || !outcome.share)
    return std::nullopt;
  return 1 / (1 - *outcome.share + *outcome.share / *outcome.meanSpeedup);
}

Result<std::vector<TuneOutcome>> TuneSession::run() {
  const auto start = services_.clock.now();
  const auto plan = [this](const ExtractionResult &found, ProgramHost &host,
                           const ProveAhead &prove) {
    auto planned = planner_.plan(found, host, prove);
    clock_.beginBudget(settings_.budget.seconds, !settings_.program.empty());
    return planned;
  };
  KOPT_TRY(bench_, Workbench::open(services_, settings_, settings_.gpus, plan));
  KOPT_TRY(rules_, RuleBook::load());
  KOPT_CHECK(readGivenCandidates());
  KOPT_CHECK(checkControls(settings_.options.controls, bench_->toolchain()));
  overview_.elsewhere = planner_.elsewhere();
  if (!planner_.observed().empty())
    overview_.stages["observe"] = planner_.seconds();
  overview_.stages["extract"] = bench_->extractSeconds();
  overview_.stages["device"] = std::max(0.0, Duration(services_.clock.now() - start).count() -
                                                 bench_->extractSeconds() - planner_.seconds());
  std::vector<TuneOutcome> outcomes;
  for (const LeftOutKernel &kernel : bench_->leftOut())
    outcomes.push_back(skippedOutcome(kernel.symbol, kernel.label, kernel.reason));
  const std::vector<TuneSubject> &subjects = bench_->subjects();
  std::vector<std::optional<double>> shares;
  for (const TuneSubject &subject : subjects)
    shares.push_back(planner_.shareOf(subject.specialization.symbol));
  weights_.emplace(shares);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const TuneSubject &subject = subjects[i];
    if (settings_.triesOnlyGiven() && given_[i].candidates.empty()) {
      outcomes.push_back(skippedOutcome(subject.specialization.symbol, subject.label,
                                        "no candidate that was given can be tried on it"));
      continue;
    }
    if (!beginTurn(i)) {
      outcomes.push_back(
          skippedOutcome(subject.specialization.symbol, subject.label,
                         fmt::format("only {:.0f} s of the time budget of {:.0f} s were left",
                                     clock_.left(), clock_.limit())));
      continue;
    }
    Result<TuneOutcome> outcome = tune(subject);
    // Errors that the kernel did not cause would stop the next kernels too, so they end the
    // session.
    const bool ends = !outcome && (outcome.error().code == ErrorCode::Environment ||
                                   outcome.error().code == ErrorCode::Interrupted);
    if (ends && outcomes.empty())
      return tl::unexpected(outcome.error());
    if (outcome)
      outcomes.push_back(std::move(*outcome));
    else if (planner_.choseKernels() && !ends)
      outcomes.push_back(
          skippedOutcome(subject.specialization.symbol, subject.label, outcome.error().what));
    else
      outcomes.push_back(failedOutcome(subject, outcome.error()));
    if (ends)
      break;
  }
  for (const KernelShare &late : planner_.late())
    outcomes.push_back(skippedOutcome(
        late.symbol, kernelName(late.symbol),
        fmt::format(
            "the time budget of {:.0f} s has room for {} kernels; --budget-seconds gives more",
            clock_.limit(), subjects.size())));
  const auto ending = services_.clock.now();
  const double inTurns = clock_.programSeconds();
  KOPT_CHECK(endSession());
  overview_.stages["confirm in the program"] =
      Duration(services_.clock.now() - ending).count() - (clock_.programSeconds() - inTurns);
  overview_.stages["the program's runs"] = clock_.programSeconds();
  services_.terminal.clear();
  overview_.builds = bench_->builds();
  overview_.limit = clock_.limit();
  overview_.used = clock_.used();
  return outcomes;
}

TuneOutcome TuneSession::skippedOutcome(const std::string &symbol, const std::string &label,
                                        const std::string &reason) const {
  services_.terminal.line(fmt::format("note: {} is skipped: {}", label, reason));
  TuneOutcome outcome;
  outcome.label = label;
  outcome.share = planner_.shareOf(symbol);
  outcome.skipped = reason;
  return outcome;
}

Status TuneSession::readGivenCandidates() {
  KOPT_TRY(given_, readGiven(*bench_, settings_.candidates, settings_.arch));
  std::set<std::string> notes; // several kernels may have the same
  for (const GivenCandidates &given : given_)
    notes.insert(given.notes.begin(), given.notes.end());
  if (settings_.triesOnlyGiven() &&
      std::ranges::all_of(given_, [](const auto &given) { return given.candidates.empty(); }))
    return makeError(ErrorCode::Usage,
                     notes.empty()
                         ? "no candidate is given"
                         : "no candidate can be tried: " + join({notes.begin(), notes.end()}, "; "),
                     "give a changed copy of the kernel's file with --candidate");
  for (const std::string &note : notes)
    services_.terminal.line("note: " + note);
  return {};
}

bool TuneSession::beginTurn(std::size_t index) {
  const std::vector<TuneSubject> &subjects = bench_->subjects();
  const TuneSubject &subject = subjects[index];
  const double left = clock_.left();
  if (!clock_.beginTurn(weights_->of(index), weights_->from(index), bench_->extractSeconds(),
                        index == 0))
    return false;
  if (subjects.size() == 1 && planner_.shares().empty())
    return true;
  const auto share = planner_.shareOf(subject.specialization.symbol);
  position_ = fmt::format("{}/{} ", index + 1, subjects.size());
  services_.terminal.line(fmt::format(
      "kernel {} of {}: {}{}{}", index + 1, subjects.size(), subject.label,
      share ? fmt::format(", {} of kernel time", formatPercent(*share)) : "",
      clock_.turnLimit() > 0 ? fmt::format(", {:.0f} s of {:.0f} s left", left, clock_.limit())
                             : ""));
  return true;
}

void TuneSession::shareTimeAgain(const TuneSubject &subject, const Baseline &baseline) {
  const auto index = std::size_t(&subject - bench_->subjects().data());
  const double headroom = baseline.trial.diagnosis.headroom;
  weights_->learn(index, headroom);
  if (bench_->subjects().size() == 1 || clock_.limit() <= 0 || !weights_->isKnown(index))
    return;
  clock_.shareAgain(weights_->of(index), weights_->from(index));
  services_.terminal.line(fmt::format("{}: at most {:.2f}x is left: {:.0f} s for it", subject.label,
                                      headroom, clock_.turnLimit()));
}

Status TuneSession::learnHeadrooms() {
  KOPT_TRY(const std::vector<RunRecord> runs, store_->runs());
  const std::vector<TuneSubject> &subjects = bench_->subjects();
  for (std::size_t i = 0; i < subjects.size(); ++i)
    for (auto run = runs.rbegin(); run != runs.rend() && !weights_->isKnown(i); ++run)
      if (run->sliceText == subjects[i].sliceText && run->kernel == subjects[i].label &&
          recordedObject(run->deviceJson).value("name", "") == bench_->device().name) {
        KOPT_TRY(const std::optional<Trial> baseline, store_->baseline(run->id));
        if (baseline)
          weights_->learn(i, baseline->diagnosis.headroom);
      }
  return {};
}

SessionEnd TuneSession::sessionEnd() {
  return {
      services_, *bench_, *store_, settings_.sources, judgeOptionsOf(settings_),
      planner_.observed(), settings_.root, settings_.output,
      settings_.program.empty() && !settings_.benchmark.empty() ? std::vector{settings_.benchmark}
                                                                : settings_.programs,
      settings_.build, settings_.options.tests, settings_.minGain, settings_.goal.objective,
      // Who shares text with a win is judged beside a baseline of its own; so is what the win
      // becomes if that fails, and the program is built.
      [this] { return clock_.isLate(); }, [this](double seconds) { clock_.ranProgram(seconds); }};
}

Status TuneSession::endSession() {
  if (wins_.empty())
    return {};
  clock_.releaseBudget();
  KOPT_TRY(session_, kopt::endSession(sessionEnd(), std::move(wins_)));
  return {};
}

template <class Step>
auto TuneSession::stage(const TuneSubject &subject, const std::string &name, Step step)
    -> decltype(step()) {
  services_.terminal.status(fmt::format("{}: {}", subject.label, name));
  const LoggedStage logged(subject.label + ": " + name);
  auto result = clock_.time(stageKey(name), step);
  if (!result)
    result.error().context.push_back(
        fmt::format("while kopt tried to {} of '{}'", name, subject.label));
  return result;
}

Result<TuneOutcome> TuneSession::tune(const TuneSubject &subject) {
  KOPT_TRY(const SubjectWorkload workload,
           stage(subject, "prepare the workload", [&] { return prepareWorkload(subject); }));
  if (settings_.dryRun) {
    TuneOutcome ready;
    ready.label = subject.label;
    ready.sandbox = bench_->layers();
    return ready;
  }
  KOPT_TRY(OpenRun run, stage(subject, "open the run", [&] { return openRun(subject, workload); }));
  Result<TuneOutcome> outcome = tuneInRun(subject, workload, run);
  learn(subject, run.record);
  if (!outcome && run.record.state == RunState::Running &&
      outcome.error().code != ErrorCode::Interrupted &&
      outcome.error().code != ErrorCode::Environment) { // these two can continue with --resume
    run.record.state = RunState::Failed;
    run.record.stopText = outcome.error().what;
    (void)store_->updateRun(run.record); // the first error is the one to report
  }
  return outcome;
}

Result<TuneOutcome> TuneSession::tuneInRun(const TuneSubject &subject,
                                           const SubjectWorkload &workload, OpenRun &run) {
  TuneOutcome outcome;
  outcome.label = subject.label;
  outcome.share = planner_.shareOf(subject.specialization.symbol);
  outcome.sandbox = bench_->layers();
  outcome.folder = run.folder;
  KOPT_TRY(const std::unique_ptr<Judge> devices, makeJudge(subject, workload, run));
  const auto model = bench_->frontend().modelOf(
      subject.sliceText, subject.specialization.expression, subject.kernel, {});
  const KernelRoof roof(subject.specialization, model ? model->uses : std::nullopt,
                        bench_->device(), run.record);
  std::optional<LibraryRoof> library; // only where kopt has the device itself
  if (LocalExecutor *local = bench_->local())
    library.emplace(LibraryTools{local->pool().front(), local->compiler(), services_.processes,
                                 services_.installation.cuda,
                                 bench_->scratch() / "evaluate" / run.record.name / "library"},
                    subject);
  const auto finish = [&](Trial &trial, const Workload &learnt) {
    static_cast<void>(tellUserLines(subject, givenOf(subject).fileOf(trial.candidateHash), trial));
    trial.diagnosis = rules_->diagnose(trial.counters, roof.known(learnt));
    if (library)
      library->finish(trial, learnt);
  };
  KOPT_TRY(RecallingJudge judge, RecallingJudge::open(*devices, *store_, run.record.id, finish));
  KOPT_TRY(Journal journal, Journal::open(*store_, run.record.id));
  KOPT_TRY(const std::optional<Trial> earlier, store_->baseline(run.record.id));
  KOPT_TRY(const Baseline baseline, stage(subject, "measure the baseline", [&] {
             if (library && !earlier && settings_.options.roof == "stop")
               library->recognise(workload.workload);
             return measureBaseline(subject, judge, journal);
           }));
  KOPT_CHECK(tellOfLibrary(baseline.trial, library ? library->why() : "", journal));
  shareTimeAgain(subject, baseline);
  KOPT_TRY(Recalled recalled, recall(subject, run.record, baseline.trial, journal));
  LookTools tools(services_, *bench_, judge,
                  {settings_, subject, baseline.workload, baseline.trial}, settings_.root);
  KOPT_TRY(const Proposers proposers, stage(subject, "make the proposers", [&] {
             return makeProposers(subject, run, recalled, tools);
           }));
  const auto atRoof =
      settings_.options.roof == "stop" ? roof.reached(baseline, *rules_) : std::optional<AtRoof>();
  if (atRoof) {
    services_.terminal.line(fmt::format("{}: {}", subject.label, atRoof->finding));
    Event event;
    event.what = Note{"roof", atRoof->finding};
    KOPT_CHECK(journal.appendOnce(event));
  }
  KOPT_TRY(const SearchHistory history, stage(subject, "search", [&] {
             return search(
                 subject, baseline, proposers, recalled, judge, journal,
                 {.roof = atRoof ? std::optional(atRoof->stop) : std::nullopt,
                  .first = run.earlier
                               ? asksOf(*run.earlier, baseline.trial.candidateHash, kMostCandidates)
                               : run.first});
           }));
  const Stop stop = std::get<Stop>(history.events.back().what);
  run.record.stop = stop.reason;
  run.record.stopText = stop.inWords();
  if (stop.reason == StopReason::Target && settings_.goal.seconds)
    run.record.stopText += fmt::format(" ({})", settings_.goal.inWords());
  addJudged(outcome, givenOf(subject), history);
  if (!settings_.at) { // else its trials are the result
    KOPT_TRY(outcome.winner, stage(subject, "confirm the winner", [&] {
               return confirm(subject, baseline, history, judge, journal);
             }));
  }
  if (outcome.winner) {
    KOPT_CHECK(tellOfLibrary(*outcome.winner, "", journal));
    KOPT_TRY(outcome.otherKinds,
             judgeOnOtherKinds(*bench_, subject, workload.workload, judgeOptionsOf(settings_),
                               *outcome.winner, journal, services_.terminal));
  }
  KOPT_CHECK(stage(subject, "write the results", [&] {
    return writeResults(subject, baseline, history, run, journal, outcome);
  }));
  outcome.stages = clock_.spent();
  return outcome;
}

Result<std::optional<Trial>> TuneSession::confirm(const TuneSubject &subject,
                                                  const Baseline &baseline,
                                                  const SearchHistory &history, Judge &judge,
                                                  Journal &journal) {
  const auto isTimeUp = [&] {
    return clock_.turnLimit() > 0 &&
           clock_.turnUsed() + secondsToConfirm(history) > clock_.turnLimit();
  };
  const SearchProblem problem{subject.kernel, subject.specialization, baseline.workload,
                              subject.sliceText, bench_->device()};
  const auto trim = [&](const Trial &best) {
    return trimWinner(problem, best, history.round, judge, journal, isTimeUp);
  };
  ConfirmationSteps steps{trim, {}, isTimeUp};
  if (!settings_.program.empty() && !bench_->device().modelled &&
      planner_.seconds() <= kLongestObserved)
    steps.screen = [&](const std::vector<const Trial *> &trials) {
      services_.terminal.status(
          fmt::format("{}: timing {} candidates in the program", subject.label, trials.size()));
      return screenTrials(sessionEnd(), subject, trials);
    };
  return confirmWinner(history, judge, journal, steps);
}

Result<SubjectWorkload> TuneSession::prepareWorkload(const TuneSubject &subject) {
  if (!settings_.program.empty() && settings_.dryRun) {
    services_.terminal.line(
        "note: a dry run runs no program: the workload that --run gives was not checked");
    return SubjectWorkload();
  }
  KOPT_TRY(SubjectWorkload workload,
           workloadOf(subject, planner_.observed(), bench_->device().kind));
  workload.workload.objective = settings_.goal.objective;
  for (const std::string &note : workload.notes)
    services_.terminal.line(note);
  return workload;
}

Result<TuneSession::OpenRun> TuneSession::openRun(const TuneSubject &subject,
                                                  const SubjectWorkload &workload) {
  const DeviceInfo &device = bench_->device();
  RunRecord run;
  run.kernel = subject.label;
  run.symbol = subject.specialization.symbol;
  run.file = subject.kernel.file;
  run.inputsHash =
      hashOf({koptVersion(), subject.sliceText, subject.label, subject.kernel.compileFlags,
              subject.declaration, workload.workload, workload.heldOut, device.kind, device.name,
              device.arch, device.driver, bench_->toolchain(), judgeOptionsOf(settings_),
              searchIdentityOf(settings_, subject, givenOf(subject))});
  run.configJson = toJson(settings_).dump();
  run.sliceText = subject.sliceText;
  run.startedUtc = services_.clock.utc();

  // Open the store only now, so that nothing is written if the input is wrong.
  if (!store_) {
    for (const auto &[folder, isNew] :
         {std::pair(settings_.root / ".kopt", true),
          std::pair(settings_.output, !std::filesystem::exists(settings_.output))})
      if (isNew && !std::filesystem::exists(folder / ".gitignore"))
        KOPT_CHECK(writeFileAtomically(folder / ".gitignore", "*\n"));
    KOPT_TRY(store_, openStore(settings_.root / ".kopt" / "kopt.db"));
    openKnowledge();
    KOPT_CHECK(learnHeadrooms());
  }
  KOPT_TRY(const std::vector<RunRecord> runs, store_->runs());
  if (settings_.resume) {
    for (auto earlier = runs.rbegin(); earlier != runs.rend(); ++earlier)
      if (earlier->inputsHash == run.inputsHash && earlier->state != RunState::Failed) {
        KOPT_TRY(const std::vector<Trial> trials, store_->trials(earlier->id));
        services_.terminal.line(
            fmt::format("resuming {}: {} trials are done", earlier->name, trials.size()));
        return OpenRun{*earlier, settings_.output / earlier->name};
      }
  }
  const auto frozen =
      std::ranges::find(runs, settings_.at ? settings_.at->run : "", &RunRecord::name);
  if (settings_.at && (frozen == runs.end() || frozen->sliceText != subject.sliceText))
    return makeError(ErrorCode::Usage,
                     fmt::format("there is no run {} of {}", settings_.at->run, subject.label));
  run.name = newName(settings_.at ? settings_.at->prefix() : slug(subject.label), runs);
  if (experience_) {
    KOPT_TRY(run.experience, experience_->last());
  }
  bench_->measureRates();
  run.deviceJson = bench_->describe().dump();
  KOPT_TRY(const RunRecord begun, store_->beginRun(run));
  OpenRun open{begun, settings_.output / run.name};
  if (settings_.at) {
    KOPT_TRY(open.first, thaw(*store_, *settings_.at, frozen->id, begun.id));
    if (settings_.resume)
      KOPT_CHECK(takeOver(*store_, *settings_.at, runs, begun.id));
  } else if (settings_.resume) {
    KOPT_TRY(open.earlier, findEarlierRun(*store_, runs, run));
  }
  if (open.earlier)
    services_.terminal.line(fmt::format(
        "{} had another workload, device or options: its best {} candidates are judged again",
        open.earlier->name, open.earlier->best.candidates.size()));
  else if (settings_.resume && !settings_.at)
    services_.terminal.line("nothing to resume: no run has these sources");
  return open;
}

void TuneSession::openKnowledge() {
  if (settings_.options.experience == "off")
    return;
  if (auto opened = openExperience())
    experience_ = std::move(*opened);
  else
    services_.terminal.line("note: this run learns nothing: " + inWords(opened.error()));
}

Result<Recalled> TuneSession::recall(const TuneSubject &subject, const RunRecord &run,
                                     const Trial &baseline, Journal &journal) {
  if (!experience_ || settings_.options.strategy == "survey")
    return Recalled();
  KOPT_TRY(const PolicyBook policies, PolicyBook::load());
  const PolicySettings *policy = policies.find(settings_.options.strategy);
  auto recalled = kopt::recall(*experience_, *bench_, subject, run, baseline,
                               policy && policy->priorWeight > 0);
  if (!recalled) {
    services_.terminal.line("note: nothing is recalled: " + inWords(recalled.error()));
    return Recalled();
  }
  if (!recalled->rests.empty()) {
    Event event;
    event.what = Note{"experience", recalled->rests};
    KOPT_CHECK(journal.appendOnce(event));
  }
  return recalled;
}

void TuneSession::learn(const TuneSubject &subject, const RunRecord &run) {
  if (!experience_ || settings_.at)
    return;
  const auto words = splitCommand(settings_.program);
  const std::filesystem::path program =
      words && !words->empty() ? std::filesystem::path(words->front())
                               : std::filesystem::absolute(settings_.root).lexically_normal();
  const LearntRun learnt{subject,
                         run,
                         bench_->device(),
                         bench_->toolchain(),
                         program.filename().string(),
                         codeCounts(*bench_, subject)};
  const auto added = store_->trials(run.id).and_then([&](const std::vector<Trial> &trials) {
    return experience_->add(lessonsOf(learnt, trials));
  });
  if (!added)
    services_.terminal.line("note: nothing was learnt of this run: " + inWords(added.error()));
}

Result<std::unique_ptr<Judge>> TuneSession::makeJudge(const TuneSubject &subject,
                                                      const SubjectWorkload &workload,
                                                      const OpenRun &run) {
  JudgeOptions options = judgeOptionsOf(settings_);
  options.buildThreads =
      settings_.buildJobs.value_or(unsigned(defaultBuildJobs(bench_->devices())));
  options.programSeconds = workload.programSeconds;
  JudgeOptions look = options;
  look.depth = settings_.verifyAll ? Depth::Search : Depth::Look;
  KOPT_TRY(std::unique_ptr<Judge> local,
           bench_->makeJudge(subject, workload.workload, look, run.record.name, clock_.turnLeft()));
  return std::make_unique<HeldOutJudge>(
      std::move(local), workload.heldOut, options,
      [&](const Workload &heldOut, const JudgeOptions &again) {
        return bench_->makeJudge(subject, heldOut, again, "held-out");
      },
      [this, id = run.record.id](const Trial &trial) -> Status {
        return recordOnce(*store_, id, trial);
      });
}

Result<Baseline> TuneSession::measureBaseline(const TuneSubject &subject, Judge &judge,
                                              Journal &journal) {
  KOPT_TRY(Baseline baseline, judge.baseline().map_error([&](Error error) {
    error.what = inUserLines(subject.specialization, subject.sliceText, error.what);
    return error;
  }));
  const auto record = [&](auto what) {
    Event event;
    event.what = std::move(what);
    return journal.appendOnce(event);
  };
  for (const Finding &finding : baseline.trial.findings)
    if (finding.severity == Severity::Warning) {
      services_.terminal.line("warning: " + finding.message);
      KOPT_CHECK(record(Checked{CheckId::None, false, finding.message}));
    }
  std::string times;
  for (const LaunchTiming &timing : baseline.trial.timings)
    times += fmt::format(" {} {}", timing.launch, formatDuration(timing.baselineSeconds));
  services_.terminal.line(fmt::format("{}: baseline{}{}", subject.label, times,
                                      bench_->device().modelled ? " (modelled)" : ""));
  for (const RuleHit &hit : baseline.trial.diagnosis.hits)
    if (hit.id == "launch-overhead")
      services_.terminal.line(fmt::format("note: {}: {}", hit.finding, hit.action));
  KOPT_CHECK(record(Note{"baseline", "baseline measured:" + times}));
  if (const Goal &goal = settings_.goal; goal.seconds || goal.objective != Objective::Mean)
    KOPT_CHECK(record(
        Note{"objective", fmt::format("what is made faster is {}; the baseline's takes {}",
                                      goal.inWords(), formatDuration(baselineSeconds(baseline)))}));
  return baseline;
}

Status TuneSession::tellOfLibrary(const Trial &trial, const std::string &why, Journal &journal) {
  const auto hit = std::ranges::find(trial.diagnosis.hits, LibraryRoof::kId, &RuleHit::id);
  const bool isFound = hit != trial.diagnosis.hits.end();
  const bool isWinner = trial.purpose == Purpose::Confirmation;
  const std::string text = (isWinner ? "the winner: " : "") + (isFound ? hit->finding : why);
  if (isFound)
    services_.terminal.line("note: " + text);
  if (!isFound && why.empty())
    return {};
  Event event;
  event.what = Note{isWinner ? "library for the winner" : "library", text};
  return journal.appendOnce(event);
}

Result<TuneSession::Proposers> TuneSession::makeProposers(const TuneSubject &subject,
                                                          const OpenRun &run, Recalled &recalled,
                                                          CandidateTools &tools) {
  Proposers proposers;
  const auto tell = [this](const std::string &text) { services_.terminal.line(text); };
  proposers.push_back(std::make_unique<GivenProposer>(
      run.earlier && settings_.candidates.empty() ? run.earlier->best : givenOf(subject), tell));
  if (!recalled.edits.empty() && !settings_.triesOnlyGiven())
    proposers.push_back(std::make_unique<RecallProposer>(std::move(recalled.edits)));
  for (const std::string &name : settings_.options.proposers) {
    if (name == kNumbersRole)
      proposers.push_back(std::make_unique<ParamsProposer>(
          subject.declaration, NumberSearch{.seed = std::uint64_t(settings_.options.seed)}));
    else if (name == "transform") {
      proposers.push_back(
          std::make_unique<TransformProposer>(bench_->frontend(), settings_.options.proposers));
      if (!bench_->device().modelled) // the emulated device's compiler has no such options
        proposers.push_back(
            std::make_unique<ControlsProposer>(settings_.options.controls, bench_->toolchain()));
    } else if (name == "merge")
      proposers.push_back(std::make_unique<MergeProposer>());
    else if (name.starts_with('-') || name == GivenProposer::kName)
      continue; // "-unroll" is no proposer but a rewrite that is left out
    else if (name != "llm")
      return makeError(ErrorCode::Usage, fmt::format("unknown proposer '{}'", name),
                       "known are params, transform, merge, llm and given");
    else {
      if (!model_) {
        KOPT_TRY(model_, modelOf(settings_, services_));
      }
      LlmOptions options = llmOptionsOf(settings_, *model_, run.record.name);
      options.tools = &tools;
      if (run.earlier) {
        options.open = run.earlier->open;
        options.openAbout = run.earlier->asked;
      }
      options.tell = tell;
      options.secondsLeft = clock_.turnLeft();
      proposers.push_back(std::make_unique<LlmProposer>(*model_, *store_, run.record.id, options));
    }
  }
  proposers.push_back(std::make_unique<ClassProposer>(bench_->frontend()));
  return proposers;
}

Result<SearchHistory> TuneSession::search(const TuneSubject &subject, const Baseline &baseline,
                                          const Proposers &proposers, const Recalled &recalled,
                                          Judge &judge, Journal &journal, SearchSettings settings) {
  settings.budget = settings_.budget;
  settings.secondsUsed = clock_.turnUsed();
  settings.budget.seconds = clock_.turnLimit();
  if (!settings_.program.empty()) // candidates are timed in the program before they are confirmed
    settings.budget.seconds -= std::min(kToBuildPrograms, kMostToBuild * clock_.turnLimit());
  settings.budget.target = targetOf(settings_, subject);
  if (settings_.goal.seconds)
    settings.budget.target = baselineSeconds(baseline) / *settings_.goal.seconds;
  if (!settings_.candidates.empty())
    settings.first = {Ask{.role = GivenProposer::kName,
                          .parents = {baseline.trial.candidateHash},
                          .technique = "",
                          .limit = givenOf(subject).candidates.size()}};
  std::vector<std::string> names; // of those that take turns
  for (const auto &proposer : proposers)
    if (settings_.at)
      continue;
    else if (proposer->name() == "llm" && model_->repliesLater())
      settings.last = Ask{.role = "llm", .parents = {}, .technique = "", .limit = kMostCandidates};
    else if (proposer->name() != "classes" && proposer->name() != GivenProposer::kName)
      names.push_back(proposer->name());
  settings.readsCounters = std::ranges::any_of(proposers, [](const auto &proposer) {
    return proposer->name() == "transform" || proposer->name() == "llm";
  });
  KOPT_TRY(
      const std::unique_ptr<Strategy> strategy,
      makeStrategy(settings_, subject, std::move(names), weightsOf(baseline.workload), recalled));
  const std::unique_ptr<Inbox> inbox = makeInbox();
  TerminalObserver observer(services_.terminal, position_, subject.label, overview_.verdicts,
                            clock_.turnLeft());
  const SearchServices services{
      judge,     *strategy,
      proposers, journal,
      *inbox,    services_.clock,
      observer,  [this] { return services_.interrupted && *services_.interrupted; }};
  const SearchProblem problem{subject.kernel,    subject.specialization, baseline.workload,
                              subject.sliceText, bench_->device(),       recalled.precedents};
  return SearchLoop(services, problem, settings).run(baseline);
}

Status TuneSession::writeResults(const TuneSubject &subject, const Baseline &baseline,
                                 const SearchHistory &history, OpenRun &run, Journal &journal,
                                 TuneOutcome &outcome) {
  const SearchedKernel searched{
      subject,          baseline.workload, bench_->extraction(),
      bench_->device(), outcome.winner,    settings_.sources.buildDirectory};
  for (Event &event : verificationOf(searched)) {
    event.round = history.round;
    KOPT_CHECK(journal.appendOnce(event));
  }
  Event time;
  time.round = history.round;
  time.what = Spent{clock_.spent(), overview_.stages, clock_.turnLimit()};
  KOPT_CHECK(journal.appendOnce(time));
  RunRecord &record = run.record;
  if (outcome.winner) {
    record.winnerHash = outcome.winner->candidateHash;
    outcome.gain = gainParts(history.trials, *outcome.winner);
    KOPT_TRY(std::vector<SourceEdit> edits, addWinnerPatch(searched, record));
    outcome.patch = run.folder / "winner.patch";
    const Trial &winner = *outcome.winner;
    outcome.meanSpeedup =
        combineTimings(winner.timings, weightsOf(baseline.workload), Objective::Mean).estimate;
    wins_.push_back(
        {record.id, record.name, &subject, winner, std::move(edits),
         savedSeconds(winner, *outcome.meanSpeedup, findShare(planner_.shares(), record.symbol)),
         launchSeconds(winner, baseline.workload), false,
         gainsByRun(winner, baseline.workload, settings_.programs)});
  }
  record.state = RunState::Finished;
  record.finishedUtc = services_.clock.utc();
  KOPT_CHECK(store_->updateRun(record));
  outcome.run = record;
  return writeRunFolder(*store_, record, run.folder);
}

} // namespace kopt
