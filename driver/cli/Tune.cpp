// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Tune.h"

#include "driver/app/config/GpuSelection.h"
#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/model/Json.h"
#include "driver/report/Report.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct TuneFlags {
  SourceFlags sources;
  ConfigFlags config;
  std::string program, failOn = "never";
  bool resume = false, dryRun = false, explainConfig = false;
};

json toJson(const TuneOutcome &outcome) {
  json object{{"kernel", outcome.label},
              {"run", outcome.run.name},
              {"judged", outcome.judged},
              {"stop_reason", outcome.run.stopText},
              {"sandbox", toJson(outcome.sandbox)},
              {"winner", nullptr},
              {"error", outcome.error ? toJson(*outcome.error) : json(nullptr)}};
  if (outcome.winner)
    object["winner"] = {{"title", outcome.winner->candidate.title},
                        {"technique", outcome.winner->candidate.technique},
                        {"candidate", outcome.winner->candidateHash},
                        {"speedup", kopt::toJson(*outcome.winner->speedup)},
                        {"assurance", kopt::toJson(outcome.winner->assurance)},
                        {"patch", outcome.patch.string()}};
  return object;
}

std::string inOneLine(const Assurance &assurance) {
  if (assurance.gaps.empty())
    return toString(assurance.level);
  return fmt::format("{}: {} not shown; the report lists {}", toString(assurance.level),
                     assurance.gaps.size() == 1
                         ? "one thing was"
                         : fmt::format("{} things were", assurance.gaps.size()),
                     assurance.gaps.size() == 1 ? "it" : "them");
}

void print(const TuneOutcome &outcome, const Terminal &out) {
  const std::string report = (outcome.folder / "report.md").string();
  if (outcome.winner)
    std::cout << fmt::format(
        "{}: {}\n  {}\n  assurance: {}\n  patch:  {}\n  report: {}\n", outcome.label,
        out.paint(Style::Green, inWords(*outcome.winner->speedup)), outcome.winner->candidate.title,
        inOneLine(outcome.winner->assurance), outcome.patch.string(), report);
  else
    std::cout << fmt::format("{}: {} in {} candidates ({})\n  report: {}\n", outcome.label,
                             out.paint(Style::Yellow, "nothing faster was found"), outcome.judged,
                             outcome.run.stopText, report);
}

class TuneCommand final : public Command {
public:
  explicit TuneCommand(CLI::App &app) {
    flags_.sources.addTo(app);
    app.get_option("files")->required();
    addProgram(app, flags_.program);
    flags_.config.addPlace(app);
    addSearch(app);
    flags_.config.addAssurance(app);
    app.add_option("--fail-on", flags_.failOn,
                   "exit with status 2: `never`, or on a `win`, when a patch was found "
                   "(default never)")
        ->check(CLI::IsMember({"never", "win"}));
    app.add_flag("--resume", flags_.resume, "continue an interrupted run that had the same inputs");
    app.add_flag("-n,--dry-run", flags_.dryRun,
                 "check everything up to the workload; run and write nothing");
    app.add_flag("--explain-config", flags_.explainConfig,
                 "print every option and which source set it");
    app.footer("nvcc flags may follow after --");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, flags_.config.load(flags_.sources.files));
    Answer answer;
    if (flags_.explainConfig) {
      for (const ConfigValue &value : config.values)
        answer.results.push_back(
            {{"option", value.key}, {"value", value.value}, {"source", value.source}});
      if (!call.json)
        std::cout << explainConfig(config);
      return answer;
    }
    KOPT_TRY(TuneSettings settings, settingsOf(config, call.rest));
    if (!config.settings.tests.empty() || !config.settings.benchmark.empty())
      call.services.terminal.line("note: this version of kopt does not run TESTS and BENCHMARK; "
                                  "run them after 'kopt apply'");
    TuneSession session(call.services, std::move(settings));
    KOPT_TRY(const std::vector<TuneOutcome> outcomes, session.run());
    return answerOf(outcomes, call);
  }

private:
  void addSearch(CLI::App &app) {
    TuneOptions &options = flags_.config.options;
    app.add_option("--min-gain", options.minSpeedup,
                   "smallest speedup worth a patch, as a ratio (default 1.02)");
    app.add_option("--seed", options.seed, "random seed (default 1)");
    app.add_option("--proposers", options.proposers,
                   "where candidates come from, separated by commas: params, transform, llm "
                   "(default params,transform)")
        ->delimiter(',');
    app.add_option("--model", options.model,
                   "language model for the llm proposer: anthropic:MODEL, openai:MODEL or "
                   "exec:COMMAND");
    app.add_option("--max-tokens", options.maxTokens,
                   "limit on the tokens of all model calls together; 0 for no limit "
                   "(default 500000)");
    app.add_option("--rounds", options.rounds, "maximum number of rounds (default 12)");
    app.add_option("--trials", options.trials, "maximum number of trials (default 200)");
    app.add_option("--patience", options.patience,
                   "rounds without a gain after which the search stops (default 4)");
    app.add_option("--budget-seconds", options.budgetSeconds,
                   "limit on wall time, in seconds (default 1800)");
    app.add_option("--gpus", options.gpus,
                   "identical GPUs that judge candidates in parallel: a number, a list such as "
                   "0,2, or `all` (default 1)");
    app.add_option("--build-jobs", options.buildJobs,
                   "candidates built in advance, in parallel; 0 for none (default: the number of "
                   "processors less two for each GPU)");
    app.add_option("--output", options.output,
                   "folder for the folders of the runs (default kopt.out)");
  }

  Result<TuneSettings> settingsOf(const Config &config,
                                  const std::vector<std::string> &nvccFlags) const {
    const ResolvedOptions &options = config.settings;
    TuneSettings settings;
    settings.sources = flags_.sources.settings(nvccFlags);
    settings.selection = selectionOf(config);
    settings.root = projectRoot(config);
    settings.output = fs::path(options.output).is_absolute() ? fs::path(options.output)
                                                             : settings.root / options.output;
    settings.device = deviceOf(config);
    KOPT_TRY(settings.gpus, parseGpuSelection(options.gpus));
    settings.sandbox = sandboxOf(config);
    settings.arch = options.arch;
    settings.proposers = options.proposers;
    settings.model = options.model;
    settings.budget.rounds = int(options.rounds);
    settings.budget.trials = int(options.trials);
    settings.budget.patience = int(options.patience);
    settings.budget.seconds = options.budgetSeconds;
    settings.minGain = options.minSpeedup - 1;
    settings.seed = std::uint64_t(options.seed);
    settings.maxTokens = options.maxTokens;
    for (const ConfigValue &value : config.values)
      if (value.key == "build-jobs" && value.source != "default")
        settings.buildJobs = unsigned(options.buildJobs);
    settings.resume = flags_.resume;
    settings.assurance = assuranceOf(config);
    settings.dryRun = flags_.dryRun;
    settings.program = flags_.program;
    return settings;
  }

  Answer answerOf(const std::vector<TuneOutcome> &outcomes, const Invocation &call) const {
    Answer answer;
    bool won = false, undecided = false;
    for (const TuneOutcome &outcome : outcomes) {
      answer.results.push_back(toJson(outcome));
      won |= outcome.winner.has_value();
      if (outcome.error && !answer.error)
        answer.error = outcome.error;
      undecided |= !outcome.error && outcome.judged == 0 && !flags_.dryRun &&
                   outcome.run.stop == StopReason::Seconds;
      if (call.json || outcome.error)
        continue;
      if (flags_.dryRun)
        std::cout << outcome.label << ": ready to tune\n";
      else
        print(outcome, call.out);
    }
    if (undecided)
      answer.exitCode = int(ErrorCode::BudgetEnded);
    else if (won && flags_.failOn == "win")
      answer.exitCode = kFailOnMatched;
    return answer;
  }

  TuneFlags flags_;
};

} // namespace

std::unique_ptr<Command> makeTune(CLI::App &app) { return std::make_unique<TuneCommand>(app); }

} // namespace kopt
