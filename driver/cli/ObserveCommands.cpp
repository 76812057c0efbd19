// SPDX-License-Identifier: Apache-2.0
// `kopt observe` and `kopt replay`.
#include "driver/cli/Commands.h"

#include "driver/app/ObserveFlow.h"
#include "driver/app/ReplayFlow.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

json toJson(const ObserveOutcome &outcome, const fs::path &trace) {
  json kernels = json::array();
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
    kernels.push_back(std::move(object));
  }
  json processes = json::array();
  for (const auto &process : outcome.trace.processes)
    processes.push_back({{"pid", process.info.pid},
                         {"program", process.info.program},
                         {"arguments", process.info.arguments},
                         {"launches", process.launches.size()},
                         {"ended", process.ended},
                         {"driver", process.info.driverVersion}});
  return {{"schema_version", 1},
          {"kernels", kernels},
          {"processes", processes},
          {"notes", outcome.notes},
          {"seconds", outcome.run.seconds},
          {"trace", trace.empty() ? json(nullptr) : json(trace.string())}};
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

/// What will stand for each snapshotted kernel.
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
      std::cout << fmt::format("  {:>7}  {}  ({} launch{}{})\n", formatPercent(one.weight),
                               use.classes[one.index].describe(),
                               use.classes[one.index].launches.size(),
                               use.classes[one.index].launches.size() == 1 ? "" : "es",
                               one.heldOut ? ", one more held out" : "");
  }
  if (!trace.empty())
    std::cout << fmt::format("\ntrace: {}\n", trace.string());
}

} // namespace

Result<int> observeCommand(Services services, const CommandLine &line) {
  ObserveSettings settings;
  settings.command = line.flags; // what follows --
  if (settings.command.empty())
    return makeError(ErrorCode::Usage, "kopt observe needs the program to run",
                     "kopt observe [FILES] -- PROGRAM ARGUMENTS...");
  for (const std::string &file : line.files)
    settings.sources.files.emplace_back(fs::absolute(file));
  if (!line.buildDirectory.empty())
    settings.sources.buildDirectory = fs::absolute(line.buildDirectory);
  settings.kernels = line.options.kernels.value_or(std::vector<std::string>{});
  settings.once = line.once;
  settings.limits.snapshotBytes = line.maxBytes;
  settings.limits.depth = line.depth;
  // Ranking is what is wanted where nothing is chosen; a kernel that is named is wanted with its
  // memory.
  settings.snapshots = line.snapshots.value_or(settings.kernels.empty() ? 0 : kKindsOfLaunches);
  if (settings.snapshots > 0 && settings.kernels.empty() && settings.sources.files.empty())
    return makeError(ErrorCode::Usage, "--snapshot needs to know of which kernels",
                     "name them with --kernel, or give .cu files with marked ones");
  if (settings.snapshots > 0)
    settings.output = fs::absolute(line.options.output.value_or("kopt.trace"));
  else if (line.options.output)
    settings.output = fs::absolute(*line.options.output);
  std::error_code error;
  if (!settings.output.empty() && fs::exists(settings.output, error) &&
      !fs::is_empty(settings.output, error))
    return makeError(ErrorCode::Usage, fmt::format("{} is there already", settings.output.string()),
                     "remove it, or give another folder with --output");
  KOPT_TRY(const ObserveOutcome outcome, observeKernels(std::move(services), settings));
  // What the program printed is not what kopt prints: it goes where progress goes.
  std::cerr << outcome.run.out << outcome.run.err;
  for (const std::string &note : outcome.notes)
    std::cerr << note << "\n";
  if (line.json) {
    std::cout << toJson(outcome, settings.output).dump(2) << "\n";
    return 0;
  }
  printRanking(outcome);
  if (!settings.output.empty())
    printChosen(outcome, settings.output);
  return 0;
}

Result<int> replayCommand(Services services, const CommandLine &line) {
  KOPT_TRY(const Config config, configOf(line));
  ReplayRequest request;
  request.trace = line.trace;
  request.sources = sourcesOf(line);
  request.selection = selectionOf(config);
  request.device = deviceOf(config);
  request.sandbox = sandboxOf(config);
  request.arch = config.settings.arch;
  KOPT_TRY(const std::vector<ReplayOutcome> outcomes, replayTrace(std::move(services), request));
  json list = json::array();
  bool differs = false;
  for (const ReplayOutcome &outcome : outcomes) {
    json launches = json::array();
    std::size_t identical = 0;
    for (const ReplayedLaunch &launch : outcome.launches) {
      launches.push_back({{"launch", launch.name},
                          {"match", toString(launch.match)},
                          {"detail", launch.detail},
                          {"bytes", launch.bytes}});
      identical += launch.match == ReplayMatch::Identical;
      differs |= launch.match == ReplayMatch::Differs || launch.match == ReplayMatch::Failed;
    }
    list.push_back({{"kernel", outcome.label},
                    {"device", outcome.device.name},
                    {"launches", launches},
                    {"identical", identical},
                    {"coverage", outcome.coverage},
                    {"notes", outcome.notes}});
    for (const std::string &note : outcome.notes)
      std::cerr << note << "\n";
    if (line.json)
      continue;
    std::cout << fmt::format("{}: {} of {} launches give what the program had, bit by bit ({}{})\n",
                             outcome.label, identical, outcome.launches.size(),
                             outcome.device.modelled ? "emulated " : "", outcome.device.name);
    for (const ReplayedLaunch &launch : outcome.launches)
      std::cout << fmt::format("  {:<9}  {:>9}  {}{}{}\n", toString(launch.match),
                               formatBytes(double(launch.bytes)), launch.name,
                               launch.detail.empty() ? "" : ": ", launch.detail);
  }
  if (line.json)
    std::cout << json{{"schema_version", 1}, {"kernels", list}}.dump(2) << "\n";
  return differs ? int(ErrorCode::BaselineFailed) : 0;
}

} // namespace kopt
