// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ObserveFlow.h"

#include "driver/support/Hash.h"
#include "driver/support/MappedFile.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kTracesKept = 8;
constexpr char kWholeMark[] = "complete";

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
  if (services.installation.frontend.empty())
    return makeError(ErrorCode::Environment,
                     "this build of kopt has no front end, so it cannot read CUDA sources",
                     "observe without naming files");
  const auto frontend = makeFrontend(services.processes, services.installation.frontend);
  ExtractRequest request;
  request.files = sources.files;
  request.buildDirectory = sources.buildDirectory;
  request.flags = sources.flags;
  request.output = scratch / "sources";
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
  const CaptureSetup setup = findCapture(services.installation.runner.parent_path());
  KOPT_CHECK(checkCapture(setup));
  ObserveOutcome outcome;
  KOPT_TRY(outcome.sources, kernelsOf(services, settings.sources, scratch.path()));
  // Where there is nothing to choose, the first run is the only one.
  const bool learns = settings.snapshots > 0 && !settings.once;
  const fs::path kept = settings.output.empty() ? scratch.path() / "trace" : settings.output;
  if (settings.snapshots == 0 || learns) {
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

Result<std::vector<std::string>> splitCommand(const std::string &text) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = quote == 0 || (quote == '"' && i + 1 < text.size() &&
                                        (text[i + 1] == '"' || text[i + 1] == '\\'));
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (inWord)
        words.push_back(word);
      word.clear();
      inWord = false;
      continue;
    }
    inWord = true;
    if (c == '\\' && escapes && i + 1 < text.size() && quote != '\'') {
      word += text[++i];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote != '\'' && std::string_view("|&;<>()$`*?").find(c) != std::string_view::npos &&
               (quote == 0 || c == '$' || c == '`')) {
      return makeError(ErrorCode::Usage,
                       fmt::format("the command '{}' needs a shell ('{}')", text, c),
                       "give a program and its arguments, or put the command into a script");
    } else {
      word += c;
    }
  }
  if (quote != 0)
    return makeError(ErrorCode::Usage,
                     fmt::format("a quote in the command '{}' is not closed", text));
  if (inWord)
    words.push_back(word);
  if (words.empty())
    return makeError(ErrorCode::Usage, "the command to run is empty",
                     "give a program and its arguments");
  return words;
}

Result<TraceCache::Key> TraceCache::keyOf(const std::vector<std::string> &command,
                                          const std::vector<TuneSubject> &subjects) {
  fs::path program = command.front();
  if (program.string().find('/') == std::string::npos) {
    const auto found = findProgram(program.string());
    if (!found)
      return makeError(ErrorCode::Usage,
                       fmt::format("there is no program '{}' in PATH", program.string()),
                       "write ./NAME for one in this folder");
    program = *found;
  }
  std::error_code error;
  std::string identity = fs::absolute(program).string();
  for (std::size_t i = 0; i < command.size(); ++i) {
    const fs::path file = i == 0 ? program : fs::path(command[i]);
    identity += "\n" + command[i];
    // Scripts and input files decide what is launched as much as the program does.
    if (i == 0 || (fs::is_regular_file(file, error) && fs::file_size(file, error) > 0)) {
      KOPT_TRY(const MappedFile content, MappedFile::open(file));
      identity += "=" + hashHex(content.bytes());
    }
  }
  std::string kernels;
  for (const TuneSubject &subject : subjects) {
    kernels += subject.specialization.symbol;
    for (const KernelParam &param : subject.specialization.params)
      kernels += fmt::format(" {}:{}", param.type, param.size);
    for (const LaunchSite &site : subject.kernel.launches) {
      kernels += "\n" + site.symbol + " " + site.sharedBytes;
      for (std::size_t axis = 0; axis < 3; ++axis)
        kernels += " " + site.grid[axis] + " " + site.block[axis];
      kernels += " " + join(site.args, ", ");
    }
    kernels += "\n";
  }
  return Key{hashFields(identity, kernels, fs::current_path().string())};
}

bool TraceCache::holds(const Key &key) const { return fs::exists(folderOf(key) / kWholeMark); }

Status TraceCache::keep(const Key &key) const {
  KOPT_CHECK(writeFileAtomically(folderOf(key) / kWholeMark, "\n"));
  std::vector<std::pair<fs::file_time_type, fs::path>> traces;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder_, error))
    traces.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
  std::sort(traces.rbegin(), traces.rend());
  for (std::size_t i = kTracesKept; i < traces.size(); ++i)
    fs::remove_all(traces[i].second, error);
  return {};
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
