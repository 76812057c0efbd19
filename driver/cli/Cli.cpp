// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Cli.h"

#include "driver/cli/Command.h"
#include "driver/cli/manual/Manual.h"
#include "driver/model/Version.h"
#include "driver/support/CommandWords.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

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
    _exit(int(ErrorCode::Interrupted)); // the second time at once
}

struct CommandEntry {
  const char *name, *help;
  std::unique_ptr<Command> (*make)(CLI::App &app);
};

constexpr CommandEntry kCommands[] = {
    {"observe", "run a program and rank its kernels; snapshot launches of chosen ones",
     makeObserve},
    {"replay", "repeat the launches of a trace and compare their results with the program's",
     makeReplay},
    {"harness", "write a kernel as a folder to edit, build and run by hand", makeHarness},
    {"tune", "search for faster versions of the annotated kernels", makeTune},
    {"trial", "judge candidates that you wrote", makeTrial},
    {"profile", "show what one launch of a kernel does, and which of its lines cost most",
     makeProfile},
    {"init", "write what the launch sites say of the kernels into kopt.toml, for you to complete",
     makeInit},
    {"list", "list the kernels of the given files", makeList},
    {"report", "print the report of a run, or open it in a browser", makeReport},
    {"explain", "say why each decision of a run was taken, or what became of one candidate",
     makeExplain},
    {"apply", "apply the winner of a run to your files", makeApply},
    {"check", "say which kernels of kopt.lock are tuned, stale or regressed", makeCheck},
    {"ci", "say what a change does to the kernels that it touches, for a pipeline", makeCi},
    {"clean", "remove the records and folders of all but the last runs of each kernel", makeClean},
    {"simulate", "search spaces that were measured before, without a device", makeSimulate},
    {"kb", "search texts about kernels, and what trials taught", makeKb},
    {"mcp", "serve an agent: kopt's tools over the Model Context Protocol, on stdin and stdout",
     makeMcp},
    {"worker", "judge for another kopt, which starts this by ssh or srun", makeWorker},
    {"skill", "write a skill file for agents that run commands", makeSkill},
    {"doctor", "say whether tuning can start here, what works, and how to get the rest",
     makeDoctor},
};

/// Commands of later versions: named, so that nobody looks for a mistake in the command line.
const std::map<std::string, std::string> kMissing = {
    {"bench", "benchmarking a kernel alone"},
};

/// Flags of every command.
struct GlobalFlags {
  std::string color = "auto";
  std::string logFile;
  bool quiet = false, json = false, verbose = false;
};

ColourChoice colourChoice(const std::string &word) {
  return word == "always"  ? ColourChoice::Always
         : word == "never" ? ColourChoice::Never
                           : ColourChoice::Auto;
}

void printError(const Error &error, Terminal &terminal) {
  terminal.clear();
  std::cerr << "kopt: " << terminal.paint(Style::Red, "error:") << " "
            << (error.where.empty() || error.what.find(error.where) != error.what.npos
                    ? ""
                    : error.where + ": ")
            << error.what << "\n";
  for (const std::string &context : error.context)
    std::cerr << "  " << context << "\n";
  if (!error.hint.empty())
    std::cerr << "  " << terminal.paint(Style::Cyan, "hint:") << " " << error.hint << "\n";
}

/// The command line: what it means, or why it means nothing.
class Parser {
public:
  explicit Parser(std::vector<std::string> arguments)
      : all(arguments), arguments_(std::move(arguments)) {
    if (const auto dashes = std::ranges::find(arguments_, "--"); dashes != arguments_.end()) {
      rest.assign(dashes + 1, arguments_.end());
      arguments_.erase(dashes, arguments_.end());
    }
    readAhead();
    app_.set_version_flag("--version", std::string("kopt ") + koptVersion(),
                          "print the version and exit");
    app_.require_subcommand(1);
    app_.add_flag("-q,--quiet", flags.quiet, "do not print progress");
    app_.add_option("--color", flags.color, "colour the output: `auto`, `always` or `never`")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    app_.add_flag(
        "--verbose", flags.verbose,
        "log on standard error each command that kopt runs and each stage, with its time");
    app_.add_option("--log-file", flags.logFile, "append that log to a file");
    app_.footer("These options may also follow the command.");
    for (const CommandEntry &entry : kCommands) {
      CLI::App *app = app_.add_subcommand(entry.name, entry.help);
      app->add_flag("--json", flags.json, "print the results as JSON");
      app->fallthrough(); // the options of every command may stand anywhere
      commands_.emplace(app, entry.make(*app));
    }
  }

  /// The exit code of --help or --version where one was given.
  Result<std::optional<int>> parse() {
    KOPT_TRY(const std::string manual, manualAskedFor());
    if (!manual.empty()) {
      std::cout << manual;
      return 0;
    }
    KOPT_CHECK(checkCommand());
    try {
      app_.parse(std::vector<std::string>(arguments_.rbegin(), arguments_.rend()));
    } catch (const CLI::Success &success) {
      return app_.exit(success);
    } catch (const CLI::ParseError &error) {
      return makeError(ErrorCode::Usage, error.what(), hintFor());
    }
    return std::nullopt;
  }

  std::string commandName() const {
    const auto chosen = app_.get_subcommands();
    return chosen.empty() ? "" : chosen.front()->get_name();
  }
  Command &command() { return *commands_.at(app_.get_subcommands().front()); }

  GlobalFlags flags;
  std::vector<std::string> all;  ///< the arguments as they were given
  std::vector<std::string> rest; ///< what follows `--`

private:
  /// For packages, so not among the options: `kopt --generate-man`, `kopt --generate-completions
  /// SHELL`. Empty where neither stands alone.
  Result<std::string> manualAskedFor() const {
    if (arguments_ == std::vector<std::string>{"--generate-man"})
      return manPage(describeCommands(app_));
    if (arguments_.size() == 2 && arguments_[0] == "--generate-completions")
      return completionsFor(arguments_[1], describeCommands(app_));
    return std::string();
  }

  /// How to print is needed even where the rest cannot be parsed.
  void readAhead() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      flags.json |= arguments_[i] == "--json";
      if (arguments_[i].starts_with("--color="))
        flags.color = arguments_[i].substr(8);
      else if (arguments_[i] == "--color" && i + 1 < arguments_.size())
        flags.color = arguments_[i + 1];
    }
  }

  /// The first word that is not an option of kopt itself; empty where there is none.
  std::string firstWord() const {
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      if (arguments_[i] == "--color" || arguments_[i] == "--log-file")
        ++i;
      else if (!arguments_[i].starts_with("-"))
        return arguments_[i];
    return "";
  }

  Status checkCommand() const {
    const std::string word = firstWord();
    if (word.empty())
      return {};
    std::vector<std::string> names;
    for (const CommandEntry &entry : kCommands)
      names.push_back(entry.name);
    if (std::ranges::find(names, word) != names.end())
      return {};
    const std::string list = "the commands are " + join(names, ", ");
    if (const auto missing = kMissing.find(word); missing != kMissing.end())
      return makeError(ErrorCode::Usage,
                       fmt::format("this version of kopt does not have the command '{}' ({})",
                                   missing->first, missing->second),
                       list);
    const std::string guess = didYouMean(word, names);
    return makeError(ErrorCode::Usage, fmt::format("unknown command '{}'", word),
                     fmt::format("{}{}{}", guess, guess.empty() ? "" : " ", list));
  }

  /// What was probably meant by the first unknown option, and where to read more.
  std::string hintFor() const {
    const std::string name = commandName();
    const std::string help = fmt::format("see 'kopt {}--help'", name.empty() ? "" : name + " ");
    std::vector<std::string> known = optionsOf(app_);
    if (!name.empty())
      for (const std::string &option : optionsOf(*app_.get_subcommands().front()))
        known.push_back(option);
    for (const std::string &argument : arguments_) {
      const std::string option = argument.substr(0, argument.find('='));
      if (isCompilerFlag(argument, known))
        return fmt::format("flags of the compiler follow '--': {} … -- {}", name, argument);
      if (!option.starts_with("--") || std::ranges::find(known, option) != known.end())
        continue;
      const auto longer = std::ranges::find_if(known, [&](const std::string &other) {
        return other.starts_with(option + "-"); // --run, in place of --run-id
      });
      const std::string guess =
          longer == known.end() ? didYouMean(option, known) : "did you mean '" + *longer + "'?";
      return guess.empty() ? help : guess + " " + help;
    }
    return help;
  }

  /// What nvcc understands and kopt does not: -O3, -arch=sm_90, -Iinclude, --use_fast_math.
  static bool isCompilerFlag(const std::string &argument, const std::vector<std::string> &known) {
    static const std::vector<std::string> kLong = {
        // architectures
        "--gpu-architecture", "--gpu-code", "--generate-code",
        // language
        "--std", "--expt-relaxed-constexpr", "--expt-extended-lambda", "--extended-lambda",
        "--restrict",
        // code
        "--use_fast_math", "--maxrregcount", "--fmad", "--ftz",
        // host compiler and preprocessor
        "--compiler-options", "--define-macro", "--include-path"};
    const std::string option = argument.substr(0, argument.find('='));
    if (std::ranges::find(known, option) != known.end())
      return false;
    if (option.starts_with("--"))
      return std::ranges::find(kLong, option) != kLong.end();
    static const std::vector<std::string> kStarts = {"-O",        "-I",       "-D",
                                                     "-U",        "-g",       "-G",
                                                     "-X",        "-arch",    "-code",
                                                     "-gencode",  "-std",     "-use_fast_math",
                                                     "-lineinfo", "-isystem", "-maxrregcount",
                                                     "-rdc",      "-ccbin",   "-m64"};
    return option.size() > 1 && option[0] == '-' &&
           std::ranges::any_of(kStarts,
                               [&](const std::string &start) { return option.starts_with(start); });
  }

  static std::vector<std::string> optionsOf(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::Option *option : app.get_options())
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
    return names;
  }

  std::vector<std::string> arguments_;
  CLI::App app_{"kopt: finds faster CUDA kernels and proves them in your own program", "kopt"};
  std::map<const CLI::App *, std::unique_ptr<Command>> commands_;
};

Result<Answer> runCommand(Parser &parser, Terminal &terminal) {
  KOPT_TRY(Installation installation, findInstallation());
  std::signal(SIGINT, onInterrupt);
  for (const int end : {SIGTERM, SIGHUP}) // of a job, of a terminal; nohup ignores it
    if (std::signal(end, SIG_IGN) != SIG_IGN)
      std::signal(end, onInterrupt);
  std::signal(SIGPIPE, SIG_IGN);
  KOPT_TRY(const Log log,
           Log::open({parser.flags.verbose ? &terminal : nullptr, parser.flags.logFile}));
  logLine(fmt::format("kopt {}: {}", koptVersion(), joinCommand(parser.all)));
  const auto processes = makeProcessRunner();
  const auto out = makeTerminal(STDOUT_FILENO, colourChoice(parser.flags.color), true);
  Invocation call{{*processes, systemClock(), terminal, std::move(installation), &interrupted},
                  parser.flags.json,
                  *out,
                  parser.rest};
  return parser.command().run(call);
}

} // namespace

int runCli(int argc, char **argv) {
  Parser parser(std::vector<std::string>(argv + 1, argv + argc));
  const auto parsed = parser.parse();
  if (parsed && *parsed)
    return **parsed;
  const auto terminal =
      makeTerminal(STDERR_FILENO, colourChoice(parser.flags.color), parser.flags.quiet);
  Answer answer;
  if (!parsed) {
    answer.error = parsed.error();
  } else {
    Result<Answer> done = runCommand(parser, *terminal);
    if (done)
      answer = std::move(*done);
    else
      answer.error = std::move(done.error());
  }
  if (parser.flags.json)
    std::cout << formatEnvelope(parser.commandName(), answer);
  std::cout.flush();
  if (!answer.error)
    return answer.exitCode;
  printError(*answer.error, *terminal);
  return int(answer.error->code);
}

} // namespace kopt
