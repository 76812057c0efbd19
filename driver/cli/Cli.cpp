// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Cli.h"

#include "driver/cli/Commands.h"
#include "driver/support/Text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <unistd.h>

namespace kopt {
namespace {

std::atomic<bool> interrupted{false};

void onInterrupt(int) {
  if (interrupted.exchange(true))
    _exit(int(ErrorCode::Interrupted)); // asked twice: now
}

/// Commands of later versions: named, so that nobody looks for a mistake of theirs.
const std::map<std::string, std::string> kMissing = {
    {"bench", "benchmarking a kernel alone"},   {"check", "checking tuned kernels for staleness"},
    {"ci", "proposing patches before a merge"}, {"explain", "explaining decisions"},
    {"simulate", "searching recorded spaces"},  {"kb", "the knowledge base"},
};

struct Flags {
  CommandLine line;
  std::string color = "auto";
  bool quiet = false;
};

void addSources(CLI::App *command, Flags &flags) {
  command->add_option("files", flags.line.files, ".cu files");
  command->add_option("-p,--build", flags.line.buildDirectory,
                      "build folder with compile_commands.json");
  command->footer("nvcc flags may follow after --");
}

/// Which kernels, and where they run.
void addPlace(CLI::App *command, Flags &flags) {
  TuneOptions &options = flags.line.options;
  command->add_option("--kernel", options.kernels,
                      "kernels to take, by qualified name or glob (default: annotated ones)");
  command
      ->add_option("--device", options.device,
                   "auto, cuda or emulated (default auto: a GPU where one answers)")
      ->check(CLI::IsMember({"auto", "cuda", "emulated"}));
  command->add_option("--model-gpu", options.modelGpu,
                      "GPU whose times the emulated device models (default H200)");
  command->add_option("--arch", options.arch, "sm_NN to build for (default: the device's)");
  command->add_option("--sandbox", options.sandbox,
                      "of candidates: auto (what this machine gives), required (all of it, or "
                      "nothing runs) or off");
  command->add_option("--manifest", flags.line.manifest, "written by kopt_tune_kernels()");
}

void addOptions(CLI::App *command, Flags &flags) {
  TuneOptions &options = flags.line.options;
  addPlace(command, flags);
  command->add_option("--min-gain", options.minGain,
                      "smallest speedup worth a patch, as a ratio (default 1.02)");
  command->add_option("--seed", options.seed, "of everything random (default 1)");
  command->add_flag(
      "--accept-weak-workload", flags.line.acceptWeakWorkload,
      "claim a win even where the workload does not notice wrong versions of the kernel");
}

void addSearch(CLI::App *command, Flags &flags) {
  TuneOptions &options = flags.line.options;
  command
      ->add_option("--proposers", options.proposers,
                   "params, transform, llm (default params,transform)")
      ->delimiter(',');
  command->add_option("--model", options.model,
                      "anthropic:MODEL, openai:MODEL or exec:COMMAND, for llm");
  command->add_option("--max-tokens", options.maxTokens,
                      "of all model calls (default 500000, 0: no limit)");
  command->add_option("--rounds", options.rounds, "at most (default 12)");
  command->add_option("--trials", options.trials, "at most (default 200)");
  command->add_option("--patience", options.patience, "rounds without gain (default 4)");
  command->add_option("--budget-seconds", options.budgetSeconds, "wall time (default 1800)");
  command->add_option("--gpus", options.gpus,
                      "GPUs of one kind that judge candidates at a time: a number, a list such as "
                      "0,2, or all (default 1)");
  command->add_option("--build-jobs", options.buildJobs,
                      "candidates built at a time while others run (default: processors less two "
                      "for each GPU; 0: none)");
  command->add_option("--output", options.output, "where run folders go (default kopt.out)");
  command
      ->add_option("--fail-on", flags.line.failOn, "never or win: exit 2 where a patch was found")
      ->check(CLI::IsMember({"never", "win"}));
  command->add_flag("--resume", flags.line.resume,
                    "go on with an interrupted run of the same inputs");
  command->add_flag("-n,--dry-run", flags.line.dryRun,
                    "check everything up to the workload; run nothing, write nothing");
  command->add_flag("--explain-config", flags.line.explainConfig,
                    "print every option and where it comes from");
}

void addObserve(CLI::App *command, Flags &flags) {
  command->add_option("files", flags.line.files, ".cu files whose kernels are looked for");
  command->add_option("-p,--build", flags.line.buildDirectory,
                      "build folder with compile_commands.json, for the files");
  command->add_option("--kernel", flags.line.options.kernels,
                      "kernels to snapshot, by name or glob (default: marked ones of the files)");
  command->add_option(
      "--snapshot", flags.line.snapshots,
      "kinds of launches of each kernel to snapshot (default 5 with --kernel, else 0: only rank)");
  command->add_flag("--once", flags.line.once,
                    "run the program once: the first launches of each geometry, not typical ones");
  command
      ->add_option("--max-bytes", flags.line.maxBytes,
                   "of memory that snapshots of a process store (default 2G)")
      ->transform(CLI::AsSizeValue(false));
  command
      ->add_option("--depth", flags.line.depth,
                   "pointers within buffers that are followed (default 1)")
      ->check(CLI::Range(0, 8));
  command->add_option("--output", flags.line.options.output,
                      "folder for the trace (default kopt.trace where there are snapshots)");
  command->footer("the program and its arguments follow after --");
}

void addReplay(CLI::App *command, Flags &flags) {
  command->add_option("trace", flags.line.trace, "folder of a trace, from kopt observe")
      ->required();
  command->add_option("files", flags.line.files, "the .cu file with the kernel")->required();
  command->add_option("-p,--build", flags.line.buildDirectory,
                      "build folder with compile_commands.json");
  command->add_option("--kernel", flags.line.options.kernels,
                      "kernels to take, by qualified name or glob (default: annotated ones)");
  command
      ->add_option("--device", flags.line.options.device,
                   "auto, cuda or emulated (default auto: a GPU where one answers)")
      ->check(CLI::IsMember({"auto", "cuda", "emulated"}));
  command->add_option("--arch", flags.line.options.arch,
                      "sm_NN to build for (default: the device's)");
  command->footer("nvcc flags may follow after --");
}

void addProfile(CLI::App *command, Flags &flags) {
  command->add_option(
      "--candidate", flags.line.candidate,
      "profile this version instead: the file, or its slice, with the kernel's code changed");
  command->add_option("--launch", flags.line.launch,
                      "of the workload, by name (default: the one with most weight)");
  CLI::Option *ncu =
      command->add_flag("--ncu", flags.line.ncu,
                        "Nsight Compute's own sections, advice and counts by line too (seconds)");
  command
      ->add_option("--sections", flags.line.sections,
                   "of Nsight Compute, by identifier (default: its set 'detailed')")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(ncu)
      ->check([](const std::string &name) {
        const bool isName =
            !name.empty() &&
            name.find_first_not_of(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                std::string::npos;
        return isName ? ""
                      : "'" + name + "' is no name of a section: 'ncu --list-sections' prints them";
      });
  command->add_option("--lines", flags.line.lines, "hot lines to print (default 10)")
      ->check(CLI::Range(0, 1000));
}

void addRun(CLI::App *command, Flags &flags) {
  command->add_option("--run", flags.line.run, "name of the run (default latest)");
  command->add_option("--manifest", flags.line.manifest, "written by kopt_tune_kernels()");
}

void printError(const Error &error, Terminal &terminal) {
  terminal.clear();
  std::cerr << "kopt: error: " << (error.where.empty() ? "" : error.where + ": ") << error.what
            << "\n";
  for (const std::string &context : error.context)
    std::cerr << "  " << context << "\n";
  if (!error.hint.empty())
    std::cerr << "  hint: " << error.hint << "\n";
}

int usageError(const std::string &what, const std::string &hint) {
  std::cerr << "kopt: error: " << what << "\n";
  if (!hint.empty())
    std::cerr << "  hint: " << hint << "\n";
  return int(ErrorCode::Usage);
}

std::vector<std::string> knownFlags(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

} // namespace

int runCli(int argc, char **argv) {
  Flags flags;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
      dashes != arguments.end()) {
    flags.line.flags.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  if (!arguments.empty() && kMissing.contains(arguments[0]))
    return usageError(
        fmt::format("this version of kopt has no '{}' ({})", arguments[0],
                    kMissing.at(arguments[0])),
        "there are: observe, replay, tune, trial, profile, list, report, apply, doctor");

  CLI::App app("kopt: finds faster CUDA kernels and proves them in your own program", "kopt");
  app.set_version_flag("--version", KOPT_VERSION);
  app.require_subcommand(1);
  app.add_flag("-q,--quiet", flags.quiet, "no progress");
  app.add_option("--color", flags.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  CLI::App *observe = app.add_subcommand(
      "observe", "run a program and rank its kernels; capture launches of chosen ones");
  CLI::App *replay = app.add_subcommand(
      "replay", "run captured launches again and compare with what the program had");
  CLI::App *tune = app.add_subcommand("tune", "search for faster versions of the marked kernels");
  CLI::App *trial = app.add_subcommand("trial", "judge one candidate that you wrote");
  CLI::App *profile = app.add_subcommand(
      "profile", "what one launch of a kernel does, and which of its lines cost most");
  CLI::App *list = app.add_subcommand("list", "list the kernels of the given files");
  CLI::App *report = app.add_subcommand("report", "print the report of a run");
  CLI::App *apply = app.add_subcommand("apply", "apply the winner of a run to your files");
  CLI::App *doctor =
      app.add_subcommand("doctor", "what works on this machine, and what to do about the rest");
  for (CLI::App *command : {tune, trial, profile, list}) {
    addSources(command, flags);
    command->get_option("files")->required();
  }
  for (CLI::App *command : {tune, trial})
    addOptions(command, flags);
  addPlace(profile, flags);
  addProfile(profile, flags);
  addObserve(observe, flags);
  addReplay(replay, flags);
  addSearch(tune, flags);
  trial
      ->add_option("--candidate", flags.line.candidates,
                   "the file, or its slice, with the kernel's code changed; may be repeated")
      ->required()
      ->allow_extra_args(false);
  trial
      ->add_option("--without", flags.line.without,
                   "expert: layers of verification to leave out; what is left is no verdict")
      ->delimiter(',')
      ->allow_extra_args(false);
  trial->add_flag("--keep-going", flags.line.keepGoing,
                  "ask the other layers too once one has refused; the first still decides");
  for (CLI::App *command : {tune, trial, profile})
    command->add_option("--run", flags.line.program,
                        "command that runs the program: its launches are the workload");
  for (CLI::App *command : {report, apply})
    addRun(command, flags);
  apply->add_flag("--check", flags.line.check, "only say what would change");
  for (CLI::App *command : {observe, replay, tune, trial, profile, list, report, doctor})
    command->add_flag("--json", flags.line.json, "print JSON");
  for (CLI::App *command : {observe, replay, tune, trial, profile, list, report, apply, doctor})
    command->fallthrough(); // -q and --color may stand anywhere

  const auto first = std::find_if(arguments.begin(), arguments.end(),
                                  [](const auto &a) { return !a.starts_with("-"); });
  std::vector<std::string> commands;
  for (const CLI::App *command : app.get_subcommands([](CLI::App *) { return true; }))
    commands.push_back(command->get_name());
  if (first != arguments.end() && first == arguments.begin() &&
      std::find(commands.begin(), commands.end(), *first) == commands.end()) {
    const std::string guess = didYouMean(*first, commands);
    return usageError(
        fmt::format("kopt has no command '{}'", *first),
        fmt::format("{}{}there are: {}", guess, guess.empty() ? "" : " ", join(commands, ", ")));
  }

  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::Success &success) { // --help and --version
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    const auto chosen = app.get_subcommands();
    const CLI::App &command = chosen.empty() ? app : *chosen.front();
    std::string hint;
    for (const std::string &argument : arguments)
      if (argument.starts_with("--") && hint.empty()) {
        const auto known = knownFlags(command);
        const std::string name = argument.substr(0, argument.find('='));
        if (std::find(known.begin(), known.end(), name) == known.end())
          hint = didYouMean(name, known);
      }
    const std::string help =
        fmt::format("see 'kopt {}--help'", chosen.empty() ? "" : command.get_name() + " ");
    return usageError(error.what(), hint.empty() ? help : hint + " " + help);
  }

  const auto colour = flags.color == "always"  ? ColourChoice::Always
                      : flags.color == "never" ? ColourChoice::Never
                                               : ColourChoice::Auto;
  const auto terminal = makeTerminal(STDERR_FILENO, colour, flags.quiet);
  const auto installation = findInstallation();
  if (!installation) {
    printError(installation.error(), *terminal);
    return int(installation.error().code);
  }
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGPIPE, SIG_IGN);
  const auto processes = makeProcessRunner();
  Services services{*processes, systemClock(), *terminal, *installation, &interrupted};
  const auto run = observe->parsed()   ? observeCommand
                   : replay->parsed()  ? replayCommand
                   : tune->parsed()    ? tuneCommand
                   : trial->parsed()   ? trialCommand
                   : profile->parsed() ? profileCommand
                   : list->parsed()    ? listCommand
                   : report->parsed()  ? reportCommand
                   : apply->parsed()   ? applyCommand
                                       : doctorCommand;
  const Result<int> exitCode = run(services, flags.line);
  std::cout.flush();
  if (!exitCode) {
    printError(exitCode.error(), *terminal);
    return int(exitCode.error().code);
  }
  return *exitCode;
}

} // namespace kopt
