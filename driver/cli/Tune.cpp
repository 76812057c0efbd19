// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/Tune.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/model/Json.h"
#include "driver/report/Report.h"
#include "driver/report/SessionReport.h"
#include "driver/source/KernelNames.h"
#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct TuneFlags {
  SourceFlags sources;
  ConfigFlags config;
  std::vector<std::string> candidates, programs;
  std::string build, failOn = "never", at;
  std::vector<std::string> without;
  int samples = 1;
  bool verifyAll = false, resume = false, dryRun = false, explainConfig = false;
};

/// What became of the files of --candidate.
json givenOf(const TuneOutcome &outcome) {
  json given = json::array();
  for (const auto &[file, trial] : outcome.given)
    given.push_back({{"file", file.string()},
                     {"candidate", trial.candidateHash},
                     {"verdict", toString(trial.verdict)},
                     {"reason", trial.reason},
                     {"speedup", kopt::toJson(trial.speedup)}});
  return given;
}

json otherKindsOf(const TuneOutcome &outcome) {
  json kinds = json::array();
  for (const KindVerdict &kind : outcome.otherKinds)
    kinds.push_back({{"device", kind.device},
                     {"verdict", toString(kind.verdict)},
                     {"reason", kind.reason},
                     {"speedup", kopt::toJson(kind.speedup)}});
  return kinds;
}

json toJson(const TuneOutcome &outcome) {
  json object{{"kernel", outcome.label},
              {"run", outcome.run.name},
              {"judged", outcome.judged},
              {"given", givenOf(outcome)},
              {"notes", outcome.notes},
              {"stop", outcome.run.stop ? json(toString(*outcome.run.stop)) : json()},
              {"stop_reason", outcome.run.stopText},
              {"sandbox", toJson(outcome.sandbox)},
              {"share", outcome.share ? json(*outcome.share) : json()},
              {"skipped", outcome.skipped.empty() ? json() : json(outcome.skipped)},
              {"stages", outcome.stages},
              {"program_speedup", nullptr},
              {"winner", nullptr},
              {"error", outcome.error ? toJson(*outcome.error) : json(nullptr)}};
  if (outcome.winner)
    object["winner"] = {{"title", outcome.winner->candidate.title},
                        {"technique", outcome.winner->candidate.technique},
                        {"options", outcome.winner->candidate.options
                                        ? json(outcome.winner->candidate.options->flags())
                                        : json::array()},
                        {"candidate", outcome.winner->candidateHash},
                        {"speedup", kopt::toJson(*outcome.winner->speedup)},
                        {"recalled", outcome.gain.recalled},
                        {"own", outcome.gain.own},
                        {"assurance", kopt::toJson(outcome.winner->assurance)},
                        {"other_devices", otherKindsOf(outcome)},
                        {"patch", outcome.patch.string()}};
  if (const auto whole = programSpeedup(outcome))
    object["program_speedup"] = *whole;
  return object;
}

json toJson(const TuneOverview &overview) {
  json elsewhere = json::array();
  for (const KernelShare &share : overview.elsewhere)
    elsewhere.push_back({{"kernel", kernelName(share.symbol)},
                         {"symbol", share.symbol},
                         {"launches", share.launches},
                         {"seconds", share.seconds},
                         {"share", share.share}});
  return {
      {"not_in_files", elsewhere},
      {"stages", overview.stages},
      {"builds", {{"compiled", overview.builds.compiled}, {"from_cache", overview.builds.taken}}},
      {"budget_seconds", overview.limit},
      {"used_seconds", overview.used}};
}

bool isAtRoof(const TuneOutcome &outcome) { return outcome.run.stop == StopReason::AtRoof; }

/// A line for each kernel, in columns.
void printSummary(const std::vector<TuneOutcome> &outcomes, const TuneOverview &overview) {
  std::size_t width = 6;
  for (const TuneOutcome &outcome : outcomes)
    width = std::max(width, outcome.label.size());
  std::cout << fmt::format("\n{:<{}}  {:>6}  {:<30}  {}\n", "kernel", width, "share", "verdict",
                           "all kernels of the program");
  double left = 1; // of the kernel time
  for (const TuneOutcome &outcome : outcomes) {
    const auto whole = programSpeedup(outcome);
    if (whole)
      left -= 1 - 1 / *whole;
    std::string verdict = outcome.winner             ? inWords(*outcome.winner->speedup)
                          : !outcome.skipped.empty() ? "skipped: " + outcome.skipped
                          : outcome.error            ? "failed"
                          : isAtRoof(outcome)        ? "at its roof"
                                                     : "nothing faster";
    std::cout << fmt::format("{:<{}}  {:>6}  {:<30}  {}\n", outcome.label, width,
                             outcome.share ? formatPercent(*outcome.share) : "", verdict,
                             whole ? fmt::format("{:.3f}x", *whole) : "");
  }
  for (const KernelShare &share : overview.elsewhere)
    std::cout << fmt::format("{:<{}}  {:>6}  not in the given files\n", kernelName(share.symbol),
                             width, formatPercent(share.share));
  if (left < 1)
    std::cout << fmt::format("together: {:.3f}x over all kernels of the program, as far as each "
                             "runs there as it does alone\n",
                             1 / left);
}

/// "extract 1.2 s, observe 3.4 s, baseline 2.0 s"
std::string inWords(const StageSeconds &stages) {
  std::string text;
  for (const char *name : {"extract", "observe", "device", "workload", "baseline", "search",
                           "confirm", "confirm in the program", "write"})
    if (const auto known = stages.find(name); known != stages.end())
      text += fmt::format("{}{} {:.1f} s", text.empty() ? "" : ", ", name, known->second);
  return text;
}

void printTime(const std::vector<TuneOutcome> &outcomes, const TuneOverview &overview) {
  StageSeconds all = overview.stages;
  for (const TuneOutcome &outcome : outcomes)
    for (const auto &[name, seconds] : outcome.stages)
      all[name] += seconds;
  std::cout << fmt::format("time: {}{}\n", inWords(all),
                           overview.limit > 0 ? fmt::format("; {:.0f} s of the budget of {:.0f} s",
                                                            overview.used, overview.limit)
                                              : "");
}

void printCounts(const TuneOverview &overview) {
  const auto &[builds, verdicts] = std::tie(overview.builds, overview.verdicts);
  std::size_t all = 0;
  std::vector<std::string> parts;
  for (const auto &[verdict, count] : verdicts) {
    all += count;
    parts.push_back(fmt::format("{} {}", count, toString(verdict)));
  }
  if (all == 0)
    return;
  if (builds.compiled + builds.taken > 0) // none: they were made elsewhere
    std::cout << fmt::format("{} compiled, {} taken from earlier runs\n",
                             counted(builds.compiled, "build", "builds"), builds.taken);
  std::cout << fmt::format("{} judged: {}\n", counted(all, "candidate", "candidates"),
                           join(parts, ", "));
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

/// How to apply the patch, if not with 'git am', in parentheses.
std::string inParentheses(const std::string &how) { return how.empty() ? "" : " (" + how + ")"; }

void print(const TuneOutcome &outcome, const Terminal &out) {
  const std::string report = (outcome.folder / "report.html").string();
  const auto &[recalled, own] = outcome.gain;
  std::string parts =
      recalled == 1 ? ""
                    : fmt::format("\n  {:.3f}x of it recalled from earlier runs, {:.3f}x found now",
                                  recalled, own);
  for (const KindVerdict &kind : outcome.otherKinds)
    parts += "\n  " + kind.inWords();
  if (outcome.winner)
    std::cout << fmt::format(
        "{}: {}\n  {}{}\n  assurance: {}\n  patch:  {}{}\n  report: {}\n", outcome.label,
        out.paint(Style::Green, inWords(*outcome.winner->speedup)), outcome.winner->candidate.title,
        parts, inOneLine(outcome.winner->assurance), outcome.patch.string(),
        inParentheses(howToApply(outcome.run.patchText)), report);
  else if (isAtRoof(outcome))
    std::cout << fmt::format("{}: {}\n  report: {}\n", outcome.label,
                             out.paint(Style::Green, outcome.run.stopText), report);
  else
    std::cout << fmt::format("{}: {} in {} ({})\n  report: {}\n", outcome.label,
                             out.paint(Style::Yellow, "nothing faster was found"),
                             counted(outcome.judged, "candidate", "candidates"),
                             outcome.run.stopText, report);
}

/// Where kopt chose the kernels, and had to leave out all of them.
Error nothingLeft(const std::vector<TuneOutcome> &outcomes) {
  std::vector<std::string> reasons;
  for (const TuneOutcome &outcome : outcomes)
    reasons.push_back(fmt::format("{}: {}", outcome.label, outcome.skipped));
  return {ErrorCode::BaselineFailed,
          "none of the kernels that have most of the program's time can be tuned", "",
          "name others with --kernel; 'kopt observe' lists all that the program launches",
          std::move(reasons)};
}

class TuneCommand final : public Command {
public:
  explicit TuneCommand(CLI::App &app) {
    flags_.sources.addTo(app);
    app.add_option("--run", flags_.programs,
                   "command line of your program; the workload is then what it launches. Given "
                   "several times: the launches of all of them, and a patch that slows down none")
        ->allow_extra_args(false);
    app.add_option("--candidate", flags_.candidates,
                   "a file that you wrote: the user's file with a kernel's code changed; tried "
                   "first, and alone with --proposers given; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--build", flags_.build,
                   "command that builds your program, such as 'make -j'; wins are confirmed in a "
                   "patched copy (default: the CMake build folder of -p, or nvcc)");
    flags_.config.addPlace(app);
    flags_.config.addExecutor(app);
    flags_.config.add(app, {"min-gain",   "objective",   "max-launch-regression",
                            "seed",       "strategy",    "experience",
                            "roof",       "proposers",   "model",
                            "max-tokens", "max-dollars", "rounds",
                            "trials",     "patience",    "budget-seconds",
                            "gpus",       "build-jobs",  "output",
                            "assurance",  "cache-mode",  "controls"});
    app.add_option("--fail-on", flags_.failOn,
                   "exit with status 2: `never`, or on a `win`, when a patch was found "
                   "(default never)")
        ->check(CLI::IsMember({"never", "win"}));
    app.add_flag("--verify-all", flags_.verifyAll,
                 "verify every candidate, not only those that look faster");
    app.add_flag("--resume", flags_.resume, "continue an interrupted run that had the same inputs");
    app.add_option("--at", flags_.at,
                   "ask the model of a recorded run again, as RUN:ASK, judge its answer, and end");
    app.add_option("--without", flags_.without,
                   "with --at: ask without these parts as well, sections of the prompt or `tools`, "
                   "separated by commas; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--samples", flags_.samples, "with --at: how often each is asked (default 1)")
        ->check(CLI::Range(1, 1000));
    app.add_flag("-n,--dry-run", flags_.dryRun,
                 "check everything up to the workload; run and write nothing");
    app.add_flag("--explain-config", flags_.explainConfig,
                 "print every option and which source set it");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, flags_.config.load(flags_.sources.files));
    Answer answer;
    if (flags_.explainConfig) {
      KOPT_TRY(const std::string strategy, strategyInWords(config.settings.strategy));
      for (const ConfigValue &value : config.values)
        answer.results.push_back(
            {{"option", value.key}, {"value", value.value}, {"source", value.source}});
      answer.details["strategy"] = strategy;
      call.print("{}{}\n", explainConfig(config), strategy);
      return answer;
    }
    KOPT_TRY(TuneSettings settings, settingsOf(config, call.rest));
    const fs::path output = settings.output;
    if (const std::string note = builtWithVariants(config, settings); !note.empty()) {
      printNote(note, call.services.terminal);
    }
    TuneSession session(call.services, std::move(settings));
    KOPT_TRY(const std::vector<TuneOutcome> outcomes, session.run());
    Answer answered = answerOf(outcomes, session.overview(), session.session(), call);
    if (session.session())
      addSession(*session.session(), output / session.session()->name, answered, call);
    if (!call.json)
      printCounts(session.overview());
    return answered;
  }

private:
  Result<TuneSettings> settingsOf(const Config &config,
                                  const std::vector<std::string> &nvccFlags) const {
    const ResolvedOptions &options = config.settings;
    std::vector<std::string> programs;
    for (const std::string &program : flags_.programs)
      if (std::ranges::find(programs, program) == programs.end())
        programs.push_back(program);
    if (programs.empty() && !options.run.empty())
      programs.push_back(joinCommand(options.run));
    KOPT_TRY(KernelRequest kernels, kernelRequest(config, flags_.sources, nvccFlags,
                                                  programs.empty() ? "" : programs.front()));
    KOPT_CHECK(setExecutor(config, kernels));
    KOPT_TRY(TuneSettings settings, tuneSettingsOf(options, std::move(kernels)));
    if (programs.size() > 1)
      settings.programs = std::move(programs);
    for (const ConfigValue &value : config.values)
      if (value.key == "build-jobs" && value.source != "default")
        settings.buildJobs = unsigned(options.buildJobs);
    KOPT_TRY(settings.candidates, candidateFiles(flags_.candidates));
    if (settings.candidates.empty() && std::ranges::count(options.proposers, "given") > 0)
      return makeError(ErrorCode::Usage, "the proposer 'given' has no candidates",
                       "give files with --candidate");
    settings.verifyAll = flags_.verifyAll;
    if (!flags_.at.empty()) {
      KOPT_TRY(settings.at, parseFrozenPoint(flags_.at));
      settings.at->samples = flags_.samples;
      for (const std::string &parts : flags_.without) {
        const std::vector<std::string> names = split(parts, ',');
        settings.at->variants.emplace_back(names.begin(), names.end());
      }
    } else if (!flags_.without.empty() || flags_.samples != 1) {
      return makeError(ErrorCode::Usage, "--without and --samples need --at",
                       "name the recorded ask that is asked again");
    }
    settings.resume = flags_.resume;
    settings.assurance = assuranceOf(config);
    settings.dryRun = flags_.dryRun;
    settings.build = flags_.build;
    settings.benchmark = options.benchmark.empty() ? "" : joinCommand(options.benchmark);
    return settings;
  }

  /// A program that was built with variants launches other kernels than its source says.
  static std::string builtWithVariants(const Config &config, const TuneSettings &settings) {
    const auto build = config.manifest.find("build_dir");
    std::error_code ignored;
    if (build == config.manifest.end() ||
        (settings.program.empty() && settings.benchmark.empty()) ||
        !fs::exists(headerFolder(config, {}) / "kopt.lock", ignored))
      return {};
    for (const auto &entry : fs::directory_iterator(fs::path(build->second) / "kopt", ignored))
      if (entry.path().filename().string().starts_with("switch-") &&
          readFile(entry.path()).value_or("").starts_with("variants"))
        return fmt::format("warning: {} builds the variants of kopt.lock, so the program launches "
                           "those; configure it with -DKOPT_OVERLAY=OFF to tune the originals",
                           build->second);
    return {};
  }

  /// Without the texts, which the session's patch has.
  static json winsOf(const SessionRecord &session) {
    json wins = kopt::toJson(session.wins);
    for (json &win : wins)
      win.erase("variant");
    return wins;
  }

  /// What became of the wins, below the kernels.
  static void addSession(const SessionRecord &session, const fs::path &folder, Answer &answer,
                         const Invocation &call) {
    const std::string patch = patchName(session);
    answer.details["session"] = {
        {"name", session.name},
        {"headline", headlineOf(session)},
        {"patch", patch.empty() ? std::string() : (folder / patch).string()},
        {"wins", winsOf(session)},
        {"confirmation", kopt::toJson(session.confirmation)}};
    if (call.json)
      return;
    std::cout << fmt::format(
        "{}: {}\n", session.name,
        call.out.paint(session.confirmed.empty() ? Style::Yellow : Style::Green,
                       headlineOf(session)));
    for (const SessionWin &win : session.wins) {
      std::cout << fmt::format("  {} ({}): {}{}\n", win.kernel, win.place,
                               win.state == WinState::Confirmed ? "" : toString(win.state),
                               win.state == WinState::Confirmed ? win.reason : ": " + win.reason);
      for (const std::string &gain : runsInWords(win))
        std::cout << "    " << gain << "\n";
    }
    if (!patch.empty())
      std::cout << fmt::format(
          "  patch:   {}{}\n", (folder / patch).string(),
          inParentheses(howToApply(session.confirmedPatch + session.offeredPatch)));
    std::cout << fmt::format("  summary: {}\n", (folder / "summary.html").string());
  }

  Answer answerOf(const std::vector<TuneOutcome> &outcomes, const TuneOverview &overview,
                  const std::optional<SessionRecord> &session, const Invocation &call) const {
    Answer answer;
    answer.details = toJson(overview);
    bool won = false, judged = false, undecided = false, deserted = false, waits = false,
         any = false, tuned = false;
    for (const TuneOutcome &outcome : outcomes) {
      answer.results.push_back(toJson(outcome));
      const SessionWin *win = session ? session->winOf(outcome.run.id) : nullptr;
      won |= outcome.winner && !(win && win->state == WinState::Dropped);
      any |= outcome.skipped.empty();
      tuned |= outcome.skipped.empty() && !outcome.error;
      if (outcome.error && !answer.error)
        answer.error = outcome.error;
      judged |= outcome.judged > 0;
      undecided |= outcome.skipped.empty() && !outcome.error && outcome.judged == 0 &&
                   !flags_.dryRun && outcome.run.stop == StopReason::Seconds;
      waits |= outcome.run.stop == StopReason::WaitsForReplies;
      deserted |= outcome.skipped.empty() && !outcome.error &&
                  outcome.run.stop == StopReason::ProposersFailed;
      if (call.json || outcome.error || !outcome.skipped.empty())
        continue;
      if (flags_.dryRun)
        std::cout << outcome.label << ": ready to tune\n";
      else
        print(outcome, call.out);
    }
    if (!any && !answer.error)
      answer.error = nothingLeft(outcomes);
    if (!call.json && tuned && !flags_.dryRun) {
      if (outcomes.size() + overview.elsewhere.size() > 1)
        printSummary(outcomes, overview);
      printTime(outcomes, overview);
    }
    if (waits)
      answer.exitCode = kWaitsForReplies;
    else if (undecided && !judged)
      answer.exitCode = int(ErrorCode::BudgetEnded);
    else if (deserted && !won)
      answer.exitCode = int(ErrorCode::Environment);
    else if (won && flags_.failOn == "win")
      answer.exitCode = kFailOnMatched;
    return answer;
  }

  TuneFlags flags_;
};

} // namespace

std::unique_ptr<Command> makeTune(CLI::App &app) { return std::make_unique<TuneCommand>(app); }

} // namespace kopt
