// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ObserveFlow.h"

#include "driver/app/ListFlow.h"
#include "driver/model/Json.h"
#include "driver/source/KernelNames.h"
#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"
#include "driver/workload/observed/KernelChoice.h"
#include "driver/workload/observed/TraceCache.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// True if launches of this kernel are to be snapshotted.
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

Result<std::vector<KernelUse>> chooseKernels(const ObserveSettings &settings,
                                             const std::vector<KernelSpec> &sources,
                                             const std::vector<KernelUse> &all) {
  std::vector<KernelUse> chosen;
  if (settings.choose) {
    KOPT_TRY(const std::vector<std::string> symbols, settings.choose(sharesOf(all)));
    std::ranges::copy_if(all, std::back_inserter(chosen), [&](const KernelUse &use) {
      return std::ranges::find(symbols, use.symbol) != symbols.end();
    });
    return chosen;
  }
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

constexpr char kSharesFile[] = "kernels.json"; ///< in the folder of a cached trace

Result<std::vector<KernelShare>> readShares(const fs::path &file) {
  KOPT_TRY(const std::string text, readFile(file));
  return fromJson<std::vector<KernelShare>>(nlohmann::json::parse(text, nullptr, false));
}

} // namespace

Result<ObserveOutcome> observeKernels(Services services, ProgramHost &host,
                                      const ObserveSettings &settings) {
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-observe"));
  const fs::path kept = settings.output.empty() ? scratch.path() / "trace" : settings.output;
  KOPT_TRY(const std::uint64_t snapshotBytes, host.snapshotBytes(settings.limits, kept));
  ObserveOutcome outcome;
  if (!settings.sources.files.empty()) {
    KOPT_TRY(outcome.sources, listKernels(services, settings.sources));
  }
  // Without snapshots to choose, the first run is the only one.
  const bool learns = settings.snapshots > 0 && !settings.once;
  if (settings.snapshots == 0 || learns) {
    const LoggedStage logged("observe the program");
    services.terminal.status("running " + settings.command.front() +
                             (learns ? ", to time its kernels" : ", to record its kernels"));
    KOPT_TRY(outcome.trace, host.observe(settings.command, {}, settings.limits,
                                         learns ? scratch.path() / "first" : kept, outcome.run));
    outcome.kernels = rankKernels(outcome.trace);
  }
  std::vector<SnapshotOrder> orders;
  if (learns) {
    KOPT_TRY(const std::vector<KernelUse> chosen,
             chooseKernels(settings, outcome.sources, outcome.kernels));
    SnapshotPlan plan = planSnapshots(outcome.trace, chosen, settings.snapshots, snapshotBytes);
    orders = std::move(plan.orders);
    for (const std::string &note : plan.notes)
      outcome.notes.push_back("note: " + note);
    std::ranges::transform(chosen, std::back_inserter(outcome.chosen), &KernelUse::symbol);
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
    services.terminal.status("running " + settings.command.front() +
                             (learns ? " again, to capture launches" : ", to capture launches"));
    KOPT_TRY(outcome.trace,
             host.observe(settings.command, orders, settings.limits, kept, outcome.run));
    outcome.kernels = rankKernels(outcome.trace);
    if (!learns) {
      KOPT_TRY(const std::vector<KernelUse> chosen,
               chooseKernels(settings, outcome.sources, outcome.kernels));
      std::ranges::transform(chosen, std::back_inserter(outcome.chosen), &KernelUse::symbol);
    }
  }
  for (const std::string &note : outcome.trace.notes())
    outcome.notes.push_back(note);
  if (outcome.run.exitCode != 0)
    outcome.notes.push_back(fmt::format(
        "warning: '{}' ended with exit code {}: its launches before that are used, and a patched "
        "program has to end with the same one",
        settings.command.front(), outcome.run.exitCode));
  services.terminal.clear();
  return outcome;
}

Result<ProgramKernels> programKernels(Services services, ProgramHost &host, const fs::path &root,
                                      const std::string &command,
                                      const std::vector<KernelInstance> &candidates,
                                      const ChooseKernels &choose) {
  KOPT_TRY(const std::vector<std::string> words, splitCommand(command));
  const TraceCache cache(root);
  KOPT_TRY(const std::string identity, host.identityOf(words));
  const TraceCache::Key key = TraceCache::keyOf(identity, candidates);
  const fs::path folder = cache.folderOf(key), table = folder / kSharesFile;
  ProgramKernels result;
  if (cache.holds(key) && host.holds(folder)) {
    services.terminal.line("taking the workload from the trace of an earlier run of " +
                           words.front());
    KOPT_TRY(result.shares, readShares(table));
    KOPT_TRY(result.chosen, choose(result.shares));
    KOPT_TRY(result.trace, readTrace(folder));
    return result;
  }
  ObserveSettings settings;
  settings.command = words;
  settings.snapshots = kKindsOfLaunches;
  settings.output = folder;
  settings.choose = [&](const std::vector<KernelShare> &launched) {
    result.shares = launched;
    return choose(launched);
  };
  std::error_code error;
  fs::remove_all(folder, error); // left by an observation that was interrupted
  const auto start = services.clock.now();
  auto outcome = observeKernels(services, host, settings);
  result.seconds = Duration(services.clock.now() - start).count();
  if (!outcome) {
    fs::remove_all(folder, error);
    return tl::unexpected(outcome.error());
  }
  KOPT_CHECK(writeFileAtomically(table, dumpJson(toJson(result.shares), 1) + "\n"));
  KOPT_CHECK(cache.keep(key));
  for (const std::string &note : outcome->notes)
    services.terminal.line(note);
  result.trace = std::move(outcome->trace);
  result.chosen = std::move(outcome->chosen);
  return result;
}

Result<ObservedTrace> programTrace(Services services, ProgramHost &host, const fs::path &root,
                                   const std::string &command,
                                   const std::vector<TuneSubject> &subjects) {
  std::vector<KernelInstance> candidates;
  for (const TuneSubject &subject : subjects)
    candidates.push_back({&subject.kernel, &subject.specialization});
  KOPT_TRY(ProgramKernels program,
           programKernels(
               services, host, root, command, candidates,
               [&](const std::vector<KernelShare> &launched) -> Result<std::vector<std::string>> {
                 KOPT_TRY(KernelChoice choice, chooseLaunched(launched, candidates));
                 return std::move(choice.symbols);
               }));
  return std::move(program.trace);
}

} // namespace kopt
