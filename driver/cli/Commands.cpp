// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Commands.h"
#include "driver/device/build/Toolchains.h"
#include "driver/device/runner/RunnerClient.h"

#include "driver/app/config/GpuSelection.h"
#include "driver/device/capture/ObserveProgram.h"
#include "driver/device/profile/NcuProfiler.h"
#include "driver/device/sass/Disassembler.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/report/Report.h"
#include "driver/store/TrialCodec.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json toJson(const std::vector<SandboxLayer> &layers) {
  json list = json::array();
  for (const SandboxLayer &layer : layers)
    list.push_back({{"layer", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return list;
}

json toJson(const TuneOutcome &outcome) {
  json object{{"kernel", outcome.label},
              {"run", outcome.run.name},
              {"judged", outcome.judged},
              {"stop_reason", outcome.run.stopReason},
              {"sandbox", toJson(outcome.sandbox)}};
  if (outcome.winner)
    object["winner"] = {{"title", outcome.winner->candidate.title},
                        {"technique", outcome.winner->candidate.technique},
                        {"candidate", outcome.winner->candidateHash},
                        {"speedup", speedupToJson(*outcome.winner->speedup)},
                        {"patch", outcome.patch.string()}};
  if (outcome.error)
    object["error"] = {{"what", outcome.error->what},
                       {"where", outcome.error->where},
                       {"hint", outcome.error->hint}};
  return object;
}

void printOutcome(const TuneOutcome &outcome) {
  if (outcome.winner)
    std::cout << fmt::format("{}: {}\n  {}\n  patch:  {}\n  report: {}\n", outcome.label,
                             inWords(*outcome.winner->speedup), outcome.winner->candidate.title,
                             outcome.patch.string(), (outcome.folder / "report.md").string());
  else
    std::cout << fmt::format("{}: nothing faster was found in {} candidates ({})\n  report: {}\n",
                             outcome.label, outcome.judged, outcome.run.stopReason,
                             (outcome.folder / "report.md").string());
}

Result<std::pair<std::unique_ptr<Store>, RunRecord>> findRun(const CommandLine &line,
                                                             const Config &config) {
  const fs::path database = projectRoot(config) / ".kopt" / "kopt.db";
  if (!fs::exists(database))
    return makeError(ErrorCode::Usage, "there are no runs here",
                     "run 'kopt tune' first, or change to its folder", database.string());
  KOPT_TRY(auto store, openStore(database));
  KOPT_TRY(const std::vector<RunRecord> runs, store->runs());
  std::vector<std::string> names;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    names.push_back(run->name);
    if (run->name == line.run || (line.run == "latest" && run->state == "finished"))
      return std::make_pair(std::move(store), *run);
  }
  return makeError(ErrorCode::Usage, fmt::format("there is no run '{}'", line.run),
                   names.empty() ? "no run has been started" : "there are: " + join(names, ", "),
                   database.string());
}

} // namespace

fs::path projectRoot(const Config &config) {
  const auto source = config.manifest.find("source_dir");
  return source == config.manifest.end() ? fs::current_path() : fs::path(source->second);
}

Result<Config> configOf(const CommandLine &line) {
  ConfigRequest request;
  request.directory =
      line.files.empty() ? fs::current_path() : fs::absolute(line.files.front()).parent_path();
  request.manifest = line.manifest;
  request.commandLine = line.options;
  return loadConfig(request);
}

SourceSettings sourcesOf(const CommandLine &line) {
  SourceSettings sources;
  for (const std::string &file : line.files)
    sources.files.emplace_back(fs::absolute(file));
  if (!line.buildDirectory.empty())
    sources.buildDirectory = fs::absolute(line.buildDirectory);
  sources.flags = line.flags;
  return sources;
}

/// The text has been checked when the configuration was read.
SandboxMode sandboxOf(const Config &config) {
  return parseSandboxMode(config.settings.sandbox).value_or(SandboxMode::Required);
}

DeviceConfig deviceOf(const Config &config) {
  DeviceConfig device;
  device.kind = config.settings.device;
  device.modelGpu = config.settings.modelGpu;
  return device;
}

SelectionRequest selectionOf(const Config &config) {
  SelectionRequest selection;
  selection.globs = config.settings.kernels;
  selection.extraClauses = [config](const std::string &kernel) {
    return config.clausesFor(kernel);
  };
  return selection;
}

Result<int> tuneCommand(Services services, const CommandLine &line) {
  KOPT_TRY(const Config config, configOf(line));
  if (line.explainConfig) {
    std::cout << explainConfig(config);
    return 0;
  }
  const ResolvedOptions &options = config.settings;
  TuneSettings settings;
  settings.sources = sourcesOf(line);
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
  settings.minGain = options.minGain - 1;
  settings.seed = std::uint64_t(options.seed);
  settings.maxTokens = options.maxTokens;
  for (const ConfigValue &value : config.values)
    if (value.key == "build-jobs" && value.source != "default")
      settings.buildJobs = unsigned(options.buildJobs);
  settings.resume = line.resume;
  settings.acceptWeakWorkload = line.acceptWeakWorkload;
  settings.dryRun = line.dryRun;
  settings.run = line.program;
  if (!options.tests.empty() || !options.benchmark.empty())
    services.terminal.line(
        "note: this version of kopt does not run TESTS and BENCHMARK; run them after 'kopt apply'");
  TuneSession session(std::move(services), std::move(settings));
  KOPT_TRY(const std::vector<TuneOutcome> outcomes, session.run());

  std::optional<Error> first;
  bool won = false, undecided = false;
  json list = json::array();
  for (const TuneOutcome &outcome : outcomes) {
    list.push_back(toJson(outcome));
    won |= outcome.winner.has_value();
    if (outcome.error && !first)
      first = outcome.error;
    undecided |= !outcome.error && outcome.judged == 0 && !line.dryRun &&
                 outcome.run.stopReason.find("budget") != std::string::npos;
    if (!line.json && !outcome.error && !line.dryRun)
      printOutcome(outcome);
    if (!line.json && line.dryRun && !outcome.error)
      std::cout << outcome.label << ": ready to tune\n";
  }
  if (line.json)
    std::cout << json{{"schema_version", 1}, {"outcomes", list}}.dump(2) << "\n";
  if (first)
    return tl::unexpected(*first);
  if (undecided)
    return int(ErrorCode::BudgetEnded);
  return won && line.failOn == "win" ? 2 : 0;
}

json toJson(const TrialOutcome &outcome, const CommandLine &line, const fs::path &candidate) {
  const Trial &trial = outcome.trial;
  json object{{"kernel", outcome.label},
              {"verdict", toString(trial.verdict)},
              {"stage", toString(trial.stage)},
              {"reason", trial.reason},
              {"device", outcome.device.name},
              {"modelled", outcome.device.modelled},
              {"build_log", trial.buildLog},
              {"speedup", nullptr},
              {"counters", trial.counters},
              {"candidate", candidate.string()},
              {"check", trial.check},
              {"checks", gatesToJson(trial.checks)},
              {"without", line.without},
              {"findings", json::array()},
              {"seconds", trial.seconds},
              {"stages", trial.stages},
              {"sandbox", toJson(outcome.sandbox)}};
  if (trial.speedup)
    object["speedup"] = speedupToJson(*trial.speedup);
  for (const Finding &finding : trial.findings)
    object["findings"].push_back({{"id", finding.id},
                                  {"severity", finding.severity},
                                  {"message", finding.message},
                                  {"where", finding.where}});
  return object;
}

void printTrial(const TrialOutcome &outcome, const std::string &prefix) {
  const Trial &trial = outcome.trial;
  const std::string by = trial.check.empty() ? "" : ", " + trial.check;
  std::cout << fmt::format("{}{}: {} (decided by {}{})\n  {}\n", prefix, outcome.label,
                           toString(trial.verdict), toString(trial.stage), by, trial.reason);
  for (const CheckRecord &record : trial.checks)
    if (record.state == CheckState::NotRun)
      std::cout << fmt::format("  not run: {}: {}\n", record.check, record.detail);
  for (const Finding &finding : trial.findings)
    std::cout << fmt::format("  {}: {} {}\n", finding.severity, finding.message, finding.where);
  if (trial.verdict == Verdict::BuildFailed)
    std::cout << trial.buildLog << "\n";
}

Result<int> trialCommand(Services services, const CommandLine &line) {
  KOPT_TRY(const Config config, configOf(line));
  TrialRequest request;
  request.sources = sourcesOf(line);
  if (request.sources.files.size() != 1)
    return makeError(ErrorCode::Usage, "kopt trial judges one file",
                     "give the .cu file with the kernel, and --candidate");
  for (const std::string &candidate : line.candidates) {
    request.candidates.push_back(fs::absolute(candidate));
    if (!fs::exists(request.candidates.back()))
      return makeError(ErrorCode::Usage,
                       fmt::format("there is no file {}", request.candidates.back().string()),
                       "give the changed file with --candidate");
  }
  KOPT_TRY(request.options.checks, CheckSwitches::without(line.without));
  request.options.keepGoing = line.keepGoing;
  request.options.acceptWeakWorkload = line.acceptWeakWorkload;
  request.options.depth = Depth::Trial; // who asks about one candidate can wait
  request.selection = selectionOf(config);
  request.program = line.program;
  request.root = projectRoot(config);
  request.device = deviceOf(config);
  request.sandbox = sandboxOf(config);
  request.options.arch = config.settings.arch;
  request.options.seed = std::uint64_t(config.settings.seed);
  request.options.buildThreads = unsigned(config.settings.buildJobs);
  request.options.policy.minGain = config.settings.minGain - 1;
  KOPT_TRY(const std::vector<CandidateTrials> results, runTrials(std::move(services), request));
  json list = json::array();
  for (const CandidateTrials &result : results) {
    json object = toJson(result.worst(), line, result.candidate);
    if (result.outcomes.size() > 1)
      for (const TrialOutcome &outcome : result.outcomes)
        object["specializations"].push_back(toJson(outcome, line, result.candidate));
    list.push_back(std::move(object));
    for (const TrialOutcome &outcome : result.outcomes)
      if (!line.json)
        printTrial(outcome, results.size() > 1 ? result.candidate.string() + ": " : "");
  }
  if (line.json)
    std::cout << (list.size() == 1 ? list.front() : list).dump(2) << "\n";
  return 0;
}

Result<int> listCommand(Services services, const CommandLine &line) {
  if (services.installation.frontend.empty())
    return makeError(ErrorCode::Environment,
                     "this build of kopt has no front end, so it cannot read CUDA sources");
  const auto frontend = makeFrontend(services.processes, services.installation.frontend);
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt"));
  ExtractRequest request;
  const SourceSettings sources = sourcesOf(line);
  request.files = sources.files;
  request.buildDirectory = sources.buildDirectory;
  request.flags = sources.flags;
  request.output = scratch.path();
  request.prove = false;
  KOPT_TRY(const ExtractionResult extraction, frontend->extract(request));
  json list = json::array();
  for (const KernelSpec &kernel : extraction.kernels)
    for (const Specialization &specialization : kernel.specializations) {
      list.push_back({{"kernel", specialization.expression},
                      {"symbol", specialization.symbol},
                      {"file", kernel.file},
                      {"line", kernel.line},
                      {"annotated", kernel.annotated},
                      {"route", specialization.route}});
      if (!line.json)
        std::cout << fmt::format("{}:{}: {}{}\n", kernel.file, kernel.line,
                                 specialization.expression, kernel.annotated ? " [tuned]" : "");
    }
  if (line.json)
    std::cout << list.dump(2) << "\n";
  return 0;
}

Result<int> reportCommand(Services services, const CommandLine &line) {
  KOPT_TRY(const Config config, configOf(line));
  KOPT_TRY(const auto found, findRun(line, config));
  KOPT_TRY(const RunHistory history, loadRun(*found.first, found.second));
  std::cout << (line.json ? renderJson(history) : renderMarkdown(history));
  return 0;
}

Result<int> applyCommand(Services services, const CommandLine &line) {
  KOPT_TRY(const Config config, configOf(line));
  KOPT_TRY(const auto found, findRun(line, config));
  const RunRecord &run = found.second;
  if (run.patchText.empty())
    return makeError(ErrorCode::Usage, fmt::format("run '{}' has no winner to apply", run.name),
                     "see 'kopt report --run " + run.name + "' for what was tried");
  KOPT_TRY(const Patch patch, parsePatch(run.patchText, patchRoot(run.file)));
  KOPT_TRY(const std::vector<AppliedFile> files, applyPatch(patch, line.check));
  for (const AppliedFile &file : files)
    std::cout << fmt::format("{}{}: +{} -{}\n", line.check ? "would change " : "changed ",
                             file.file.string(), file.linesAdded, file.linesRemoved);
  return 0;
}

Result<int> doctorCommand(Services services, const CommandLine &line) {
  json checks = json::array();
  const auto report = [&](const std::string &what, bool ok, const std::string &detail,
                          const std::string &remedy) {
    checks.push_back(
        {{"check", what}, {"ok", ok}, {"detail", detail}, {"remedy", ok ? "" : remedy}});
    if (!line.json)
      std::cout << fmt::format("{:<4} {:<26} {}{}\n", ok ? "ok" : "no", what, detail,
                               ok || remedy.empty() ? "" : "\n       -> " + remedy);
  };
  report("front end", !services.installation.frontend.empty(),
         services.installation.frontend.string(), "build kopt with KOPT_BUILD_FRONTEND=ON");
  const auto nvcc = makeNvccToolchain(services.processes);
  report("nvcc", nvcc.has_value(), nvcc ? (*nvcc)->name() : nvcc.error().what,
         "install the CUDA toolkit, or set KOPT_CUDA_PATH; without it slices cannot be proven and "
         "nothing is measured");
  const auto sandbox =
      Sandbox::open(services.processes, services.installation.sandbox, SandboxMode::Auto);
  if (!sandbox)
    report("sandbox", false, sandbox.error().what, sandbox.error().hint);
  else
    for (const SandboxLayer &layer : sandbox->layers())
      report("sandbox: " + layer.name, layer.active, layer.detail, layer.remedy);
  const TemporaryDirectory scratch = std::move(*TemporaryDirectory::create("kopt"));
  for (const char *kind : {"cuda", "emulated"}) {
    DeviceConfig device;
    device.kind = kind;
    device.modelGpu = "H200";
    const auto runner =
        startRunner(services.processes, services.installation.runner, device, scratch.path() / kind,
                    services.installation.gpuSpecs, {}, {sandbox ? *sandbox : Sandbox(), {}});
    report(std::string(kind) + " device", runner.has_value(),
           runner ? (*runner)->device().name + " " + (*runner)->device().arch : runner.error().what,
           std::string(kind) == "cuda"
               ? "without a GPU, tune on the emulated device: its times are modelled"
               : "");
  }
  const CaptureSetup capture = findCapture(services.installation.runner.parent_path());
  report("capture library", !capture.library.empty(), capture.library.string(),
         "build or install kopt as a whole: 'kopt observe' and --run need libkopt-capture.so");
  report("CUPTI", !capture.cupti.empty(),
         capture.cupti.empty() ? "libcupti.so was not found beside a CUDA toolkit"
                               : capture.cupti.front().string(),
         "install CUPTI with the CUDA toolkit, or name its libcupti.so in KOPT_CUPTI; without it "
         "no program is observed");
  const auto ncu = findNsightCompute();
  report("Nsight Compute", ncu.has_value(),
         ncu ? ncu->string()
             : "ncu was not found in PATH, beside the CUDA toolkit or in /opt/nvidia",
         "put ncu into PATH for its sections and advice, and for hardware counters where CUPTI has "
         "none");
  const auto disassembler = findDisassembler();
  report("nvdisasm", disassembler.has_value(),
         disassembler ? disassembler->string()
                      : "nvdisasm was not found in NVDISASM_PATH, KOPT_CUDA_PATH, PATH, CUDA_HOME "
                        "or /usr/local/cuda",
         "install it with the CUDA toolkit (package cuda-nvdisasm), or name it in NVDISASM_PATH; "
         "without it the machine code is not read");
  if (line.json)
    std::cout << checks.dump(2) << "\n";
  return 0;
}

} // namespace kopt
