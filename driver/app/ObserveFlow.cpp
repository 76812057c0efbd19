// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ObserveFlow.h"

#include "driver/source/KernelNames.h"
#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"
#include "driver/workload/observed/TraceCache.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// Whether the kernel's launches are to be snapshotted.
bool isChosen(const ObserveSettings &settings, const std::vector<KernelSpec> &sources,
              const std::string &symbol) {
  for (const std::string &name : settings.kernels)
    if (namesKernel(name, symbol))
      return true;
  if (!settings.kernels.empty())
    return false;
  for (const KernelSpec &kernel : sources)
    for (const Specialization &specialization : kernel.specializations)
      if (kernel.annotated && specialization.symbol == symbol)
        return true;
  return false;
}

Result<std::vector<KernelSpec>> kernelsOf(Services &services, const SourceSettings &sources,
                                          const fs::path &scratch) {
  if (sources.files.empty())
    return std::vector<KernelSpec>{};
  KOPT_TRY(const auto frontend, openFrontend(services));
  ExtractRequest request = extractRequest(sources, scratch / "sources");
  request.prove = false;
  KOPT_TRY(ExtractionResult extraction, frontend->extract(request));
  return std::move(extraction.kernels);
}

Result<std::vector<KernelUse>> chooseKernels(const ObserveSettings &settings,
                                             const std::vector<KernelSpec> &sources,
                                             const std::vector<KernelUse> &all) {
  std::vector<KernelUse> chosen;
  std::vector<std::string> names;
  for (const KernelUse &use : all) {
    names.push_back(kernelName(use.symbol));
    if (isChosen(settings, sources, use.symbol))
      chosen.push_back(use);
  }
  if (!chosen.empty())
    return chosen;
  const std::string wanted =
      settings.kernels.empty() ? "the marked kernels" : "'" + join(settings.kernels, "', '") + "'";
  const std::string guess =
      settings.kernels.empty() ? "" : didYouMean(settings.kernels.front(), names);
  return makeError(
      ErrorCode::Usage, fmt::format("the program launched none of {}", wanted),
      fmt::format("{}{}it launched: {}", guess, guess.empty() ? "" : " ", join(names, ", ")));
}

} // namespace

Result<ObserveOutcome> observeKernels(Services services, const ObserveSettings &settings) {
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-observe"));
  const CaptureSetup setup =
      findCapture(services.installation.runner.parent_path(), services.installation.cuda);
  KOPT_CHECK(checkCapture(setup));
  ObserveOutcome outcome;
  KOPT_TRY(outcome.sources, kernelsOf(services, settings.sources, scratch.path()));
  // Where there is nothing to choose, the first run is the only one.
  const bool learns = settings.snapshots > 0 && !settings.once;
  const fs::path kept = settings.output.empty() ? scratch.path() / "trace" : settings.output;
  if (settings.snapshots == 0 || learns) {
    const LoggedStage logged("observe the program");
    services.terminal.status("observing " + settings.command.front());
    KOPT_TRY(outcome.trace,
             observeProgram(services.processes, setup, settings.command, {}, settings.limits,
                            learns ? scratch.path() / "first" : kept, outcome.run));
    outcome.kernels = rankKernels(outcome.trace);
  }
  std::vector<SnapshotOrder> orders;
  if (learns) {
    KOPT_TRY(const std::vector<KernelUse> chosen,
             chooseKernels(settings, outcome.sources, outcome.kernels));
    orders = planSnapshots(outcome.trace, chosen, settings.snapshots);
    for (const KernelUse &use : chosen)
      outcome.chosen.push_back(use.symbol);
    if (orders.empty())
      outcome.notes.push_back("warning: no launch of these kernels can be repeated by itself, so "
                              "there are no snapshots");
  } else if (settings.snapshots > 0) {
    for (const KernelSpec &kernel : outcome.sources)
      for (const Specialization &specialization : kernel.specializations)
        if (isChosen(settings, outcome.sources, specialization.symbol))
          orders.push_back({specialization.symbol, "class 2"});
    if (orders.empty())
      return makeError(
          ErrorCode::Usage,
          "--once needs the kernels' sources, to know their symbols before the program runs",
          "give the .cu files too, or leave --once away");
  }
  if (!orders.empty()) {
    const LoggedStage logged("observe the program with snapshots");
    services.terminal.status("observing " + settings.command.front() + ", with snapshots");
    KOPT_TRY(outcome.trace, observeProgram(services.processes, setup, settings.command, orders,
                                           settings.limits, kept, outcome.run));
    outcome.kernels = rankKernels(outcome.trace);
    if (!learns) {
      KOPT_TRY(const std::vector<KernelUse> chosen,
               chooseKernels(settings, outcome.sources, outcome.kernels));
      for (const KernelUse &use : chosen)
        outcome.chosen.push_back(use.symbol);
    }
  }
  for (const std::string &note : outcome.trace.notes())
    outcome.notes.push_back(note);
  services.terminal.clear();
  return outcome;
}

Result<ObservedTrace> programTrace(Services services, const fs::path &root,
                                   const std::string &command,
                                   const std::vector<TuneSubject> &subjects) {
  KOPT_TRY(const std::vector<std::string> words, splitCommand(command));
  const TraceCache cache(root);
  KOPT_TRY(const TraceCache::Key key, TraceCache::keyOf(words, subjects));
  if (cache.holds(key)) {
    services.terminal.line("taking the workload from the trace of an earlier run of " +
                           words.front());
    return readTrace(cache.folderOf(key));
  }
  ObserveSettings settings;
  settings.command = words;
  for (const TuneSubject &subject : subjects)
    settings.kernels.push_back(subject.specialization.symbol);
  settings.snapshots = kKindsOfLaunches;
  settings.output = cache.folderOf(key);
  std::error_code error;
  fs::remove_all(settings.output, error); // of an observation that did not end
  auto outcome = observeKernels(services, settings);
  if (!outcome) {
    fs::remove_all(settings.output, error);
    return tl::unexpected(outcome.error());
  }
  KOPT_CHECK(cache.keep(key));
  for (const std::string &note : outcome->notes)
    services.terminal.line(note);
  return std::move(outcome->trace);
}

} // namespace kopt
