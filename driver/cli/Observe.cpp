// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ObserveFlow.h"
#include "driver/app/programs/LocalPrograms.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/source/KernelNames.h"
#include "driver/support/CommandWords.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ObserveFlags {
  SourceFlags sources;
  std::optional<std::vector<std::string>> kernels;
  std::optional<std::size_t> snapshots;
  std::optional<std::string> output;
  std::string program;
  std::uint64_t maxBytes = 0;
  unsigned depth = 1;
  bool once = false;
};

struct KernelPlace {
  std::string file;
  unsigned line = 0;
  bool annotated = false;
};

/// Where the given files define the kernel.
std::optional<KernelPlace> placeOf(const ObserveOutcome &outcome, const std::string &symbol) {
  for (const KernelSpec &kernel : outcome.sources)
    for (const Specialization &specialization : kernel.specializations)
      if (specialization.symbol == symbol ||
          (specialization.fileLocal && kernelName(specialization.symbol) == kernelName(symbol)))
        return KernelPlace{kernel.file, kernel.line, kernel.annotated};
  return std::nullopt;
}

bool isSnapshotted(const ObservedTrace &trace, const LaunchRef &ref) {
  const auto &process = trace.processes[ref.process];
  return process.snapshots.contains(process.launches[ref.launch].sequence);
}

Answer answerOf(const ObserveOutcome &outcome, const fs::path &trace) {
  Answer answer;
  for (const KernelUse &use : outcome.kernels) {
    json kinds = json::array();
    for (const LaunchClass &kind : use.classes) {
      std::size_t snapshots = 0;
      for (const LaunchRef &ref : kind.launches)
        snapshots += isSnapshotted(outcome.trace, ref);
      kinds.push_back({{"grid", kind.grid},
                       {"block", kind.block},
                       {"shared_bytes", kind.sharedBytes},
                       {"launches", kind.launches.size()},
                       {"seconds", kind.seconds},
                       {"slow", kind.slow},
                       {"fast", kind.fast},
                       {"snapshots", snapshots}});
    }
    json object{{"symbol", use.symbol},
                {"name", kernelName(use.symbol)},
                {"launches", use.launches},
                {"timed", use.timed},
                {"seconds", use.seconds},
                {"share", use.share},
                {"mean_seconds", use.launches ? use.seconds / double(use.launches) : 0.0},
                {"scalars_vary", use.scalarsVary},
                {"kinds", kinds},
                {"source", nullptr},
                {"snapshotted", std::find(outcome.chosen.begin(), outcome.chosen.end(),
                                          use.symbol) != outcome.chosen.end()}};
    if (const auto place = placeOf(outcome, use.symbol))
      object["source"] = {
          {"file", place->file}, {"line", place->line}, {"annotated", place->annotated}};
    answer.results.push_back(std::move(object));
  }
  json processes = json::array();
  for (const auto &process : outcome.trace.processes)
    processes.push_back({{"pid", process.info.pid},
                         {"program", process.info.program},
                         {"arguments", process.info.arguments},
                         {"launches", process.launches.size()},
                         {"ended", process.ended},
                         {"driver", process.info.driverVersion}});
  answer.details = {{"processes", processes},
                    {"seconds", outcome.run.seconds},
                    {"trace", trace.empty() ? json(nullptr) : json(trace.string())}};
  answer.notes = outcome.notes;
  return answer;
}

void printRanking(const ObserveOutcome &outcome) {
  std::cout << fmt::format("{:>9} {:>11} {:>7} {:>11} {:>6}  {}\n", "launches", "total", "share",
                           "mean", "kinds", "kernel");
  for (const KernelUse &use : outcome.kernels) {
    const bool timed = use.timed > 0;
    const auto place = placeOf(outcome, use.symbol);
    std::cout << fmt::format("{:>9} {:>11} {:>7} {:>11} {:>6}  {}{}\n", use.launches,
                             timed ? formatDuration(use.seconds) : "-",
                             timed ? formatPercent(use.share) : "-",
                             timed ? formatDuration(use.seconds / double(use.launches)) : "-",
                             use.classes.size(), kernelName(use.symbol),
                             place ? fmt::format("  {}:{}{}", place->file, place->line,
                                                 place->annotated ? " [tuned]" : "")
                                   : "");
  }
}

/// The launches that would represent each snapshotted kernel in a workload.
void printChosen(const ObserveOutcome &outcome, const fs::path &trace) {
  for (const KernelUse &use : outcome.kernels) {
    if (std::find(outcome.chosen.begin(), outcome.chosen.end(), use.symbol) == outcome.chosen.end())
      continue;
    const Selection selection =
        chooseRepresentatives(use, kKindsOfLaunches, 0.9, [&](const LaunchRef &ref) {
          return isSnapshotted(outcome.trace, ref);
        });
    std::cout << fmt::format(
        "\n{}: {} of its {} kinds of launches have snapshots, with {} of its time\n",
        kernelName(use.symbol), selection.chosen.size(), use.classes.size(),
        formatPercent(selection.coverage));
    for (const Representative &one : selection.chosen)
      std::cout << fmt::format(
          "  {:>7}  {}  ({}{})\n", formatPercent(one.weight), use.classes[one.index].describe(),
          counted(use.classes[one.index].launches.size(), "launch", "launches"),
          one.heldOut ? ", one more held out" : "");
  }
  if (!trace.empty())
    std::cout << fmt::format("\ntrace: {}\n", trace.string());
}

class ObserveCommand final : public Command {
public:
  explicit ObserveCommand(CLI::App &app) {
    flags_.sources.addTo(app, ".cu files to search for the kernels");
    app.add_option("--kernel", flags_.kernels,
                   "kernels to snapshot, by name or glob (default: the annotated ones of the "
                   "files)");
    app.add_option("--snapshot", flags_.snapshots,
                   "number of different kinds of launches to snapshot for each kernel (default 5 "
                   "with --kernel, else 0: only rank)");
    app.add_flag("--once", flags_.once,
                 "run the program only once, and snapshot the first launches of each geometry "
                 "instead of typical ones");
    app.add_option(
           "--max-bytes", flags_.maxBytes,
           "limit on the memory that the snapshots of one process store (default: half of the "
           "free disk, at most a quarter of the memory)")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("--depth", flags_.depth,
                   "how many levels of pointers inside buffers to follow (default 1)")
        ->check(CLI::Range(0, 8));
    app.add_option("--output", flags_.output,
                   "folder for the trace (default kopt.trace if there are snapshots)");
    app.add_option("--run", flags_.program,
                   "command line of the program, if nvcc flags for the files follow after --");
    app.footer("the program and its arguments follow after --; with --run, nvcc flags may");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const ObserveSettings settings, settingsOf(call.rest));
    LocalPrograms programs(call.services);
    KOPT_TRY(const ObserveOutcome outcome, observeKernels(call.services, programs, settings));
    // The program's own output goes where progress goes: standard output is for results.
    std::cerr << outcome.run.out << outcome.run.err;
    for (const std::string &note : outcome.notes)
      printNote(note, call.services.terminal);
    if (!call.json) {
      printRanking(outcome);
      if (!settings.output.empty())
        printChosen(outcome, settings.output);
    }
    return answerOf(outcome, settings.output);
  }

private:
  Result<ObserveSettings> settingsOf(const std::vector<std::string> &command) const {
    ObserveSettings settings;
    settings.command = command;
    if (!flags_.program.empty()) {
      KOPT_TRY(settings.command, splitCommand(flags_.program));
    }
    if (settings.command.empty())
      return makeError(ErrorCode::Usage, "kopt observe needs the program to run",
                       "kopt observe [FILES] -- PROGRAM ARGUMENTS..., or kopt observe FILES --run "
                       "'PROGRAM ARGUMENTS...' -- FLAGS");
    KOPT_TRY(settings.sources, flags_.sources.settingsIfAny(
                                   flags_.program.empty() ? std::vector<std::string>{} : command));
    settings.kernels = flags_.kernels.value_or(std::vector<std::string>{});
    settings.once = flags_.once;
    settings.limits.snapshotBytes = flags_.maxBytes;
    settings.limits.depth = flags_.depth;
    // Without names the user wants a ranking; a kernel that is named is wanted with its memory.
    settings.snapshots = flags_.snapshots.value_or(settings.kernels.empty() ? 0 : kKindsOfLaunches);
    if (settings.snapshots > 0 && settings.kernels.empty() && settings.sources.files.empty())
      return makeError(ErrorCode::Usage, "--snapshot needs to know of which kernels",
                       "name them with --kernel, or give .cu files with annotated ones");
    if (settings.snapshots > 0)
      settings.output = fs::absolute(flags_.output.value_or("kopt.trace"));
    else if (flags_.output)
      settings.output = fs::absolute(*flags_.output);
    std::error_code error;
    if (!settings.output.empty() && fs::exists(settings.output, error) &&
        !fs::is_empty(settings.output, error))
      return makeError(ErrorCode::Usage,
                       fmt::format("{} exists and is not empty", settings.output.string()),
                       "remove it, or give another folder with --output");
    return settings;
  }

  ObserveFlags flags_;
};

} // namespace

std::unique_ptr<Command> makeObserve(CLI::App &app) {
  return std::make_unique<ObserveCommand>(app);
}

} // namespace kopt
