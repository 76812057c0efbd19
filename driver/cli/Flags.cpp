// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Flags.h"

#include "driver/config/ExecutorChoice.h"
#include "driver/config/GpuSelection.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

void SourceFlags::addTo(CLI::App &app, const std::string &help) {
  app.add_option("files", files, help);
  app.add_option("-p,--build-dir", buildDirectory, "build folder with compile_commands.json");
  app.add_option(
      "--command", command,
      "of several compile commands for a file, use the one that contains this text, such "
      "as Debug or app.dir; of several that of Release, else an optimized one");
  app.footer("nvcc flags may follow after --");
}

Result<SourceSettings> SourceFlags::settings(const std::vector<std::string> &nvccFlags) const {
  SourceSettings sources;
  for (const std::string &file : files)
    sources.files.emplace_back(fs::absolute(file));
  if (!buildDirectory.empty())
    sources.buildDirectory = fs::absolute(buildDirectory);
  sources.flags = nvccFlags;
  sources.command = command;
  return withDatabaseFiles(std::move(sources));
}

Result<SourceSettings> SourceFlags::settingsIfAny(const std::vector<std::string> &nvccFlags) const {
  if (files.empty() && buildDirectory.empty())
    return SourceSettings{};
  return settings(nvccFlags);
}

void ConfigFlags::add(CLI::App &app, const std::vector<std::string> &keys) {
  for (const std::string &key : keys)
    add(app, key, {});
}

void ConfigFlags::add(CLI::App &app, const std::string &key, const std::string &help) {
  const Option &option = *findOption(key);
  std::string text = help.empty() ? option.help : help;
  if (const std::string value = showValue(valueOf(ResolvedOptions(), option));
      text.find("(default") == text.npos && !value.empty())
    text += " (default " + value + ")";
  const bool isKernels = key == "kernels"; // whose names may contain commas
  CLI::Option *flag = std::visit(
      [&]<class T>(OptionMember<T>) {
        return app.add_option_function<T>(
            isKernels ? "--kernel" : "--" + key,
            [this, key](const T &value) { options[key] = value; }, text);
      },
      option.member);
  if (!option.choices.empty())
    flag->check(CLI::IsMember(option.choices));
  if (!isKernels && std::holds_alternative<OptionMember<std::vector<std::string>>>(option.member))
    flag->delimiter(',');
}

void ConfigFlags::addPlace(CLI::App &app) {
  add(app, {"kernels", "device", "arch", "model-gpu", "sandbox", "build-cache"});
  addManifest(app);
}

void ConfigFlags::addExecutor(CLI::App &app) {
  add(app, {"executor", "archs", "executor-folder", "executor-program", "executor-restarts"});
}

void ConfigFlags::addManifest(CLI::App &app) {
  app.add_option("--manifest", manifest, "manifest file that kopt_tune_kernels() wrote");
}

ConfigRequest ConfigFlags::request(const std::vector<std::string> &files) const {
  ConfigRequest request;
  request.directory =
      files.empty() ? fs::current_path() : fs::absolute(files.front()).parent_path();
  request.manifest = manifest;
  request.commandLine = options;
  return request;
}

Result<Config> ConfigFlags::load(const std::vector<std::string> &files) const {
  return loadConfig(request(files));
}

/// The text has been checked when the configuration was read.
AssurancePolicy assuranceOf(const Config &config) {
  return parseEnum<AssurancePolicy>(config.settings.assurance).value_or(AssurancePolicy::Strict);
}

KernelRequest kernelRequest(const Config &config) {
  const ResolvedOptions &options = config.settings;
  KernelRequest request;
  request.selection = {options.kernels, config.kernels, {}};
  // The texts were checked when the configuration was read.
  request.device.kind = parseEnum<DeviceKind>(options.device).value_or(DeviceKind::Auto);
  request.device.modelGpu = options.modelGpu;
  request.sandbox = parseEnum<SandboxMode>(options.sandbox).value_or(SandboxMode::Required);
  request.arch = options.arch;
  request.buildCache = options.buildCache;
  request.root = projectRoot(config);
  return request;
}

Status setExecutor(const Config &config, KernelRequest &request) {
  const ResolvedOptions &options = config.settings;
  KOPT_TRY(request.executor.choice, parseExecutor(options.executor));
  KOPT_TRY(request.executor.gpus, parseGpuSelection(options.gpus));
  if (request.executor.choice.kind == ExecutorKind::Ssh && request.executor.gpus.empty())
    return makeError(ErrorCode::Usage, "--gpus all is not known for other hosts",
                     "give the number of GPUs that each host has");
  request.executor.program = options.executorProgram;
  request.executor.archs = options.archs;
  if (!options.executorFolder.empty() && options.executorFolder.front() != '/')
    return makeError(ErrorCode::Usage,
                     fmt::format("--executor-folder '{}' is not absolute", options.executorFolder),
                     "give the whole path on the hosts");
  request.executor.folder = options.executorFolder;
  request.executor.restarts = unsigned(options.executorRestarts);
  request.executor.flags = {"--device=" + options.device, "--model-gpu=" + options.modelGpu,
                            "--sandbox=" + options.sandbox,
                            fmt::format("--build-cache={}", options.buildCache)};
  return {};
}

Result<KernelRequest> kernelRequest(const Config &config, const SourceFlags &sources,
                                    const std::vector<std::string> &nvccFlags,
                                    const std::string &program) {
  KernelRequest request = kernelRequest(config);
  request.program = program;
  KOPT_TRY(request.sources, sources.settings(nvccFlags));
  return request;
}

JudgeOptions trialOptions(const Config &config) {
  JudgeOptions options;
  options.assurance = assuranceOf(config);
  options.cacheMode = parseEnum<CacheMode>(config.settings.cacheMode).value_or(CacheMode::Unknown);
  options.depth = Depth::Trial;
  options.arch = config.settings.arch;
  options.seed = std::uint64_t(config.settings.seed);
  options.buildThreads = unsigned(config.settings.buildJobs);
  options.policy.minGain = config.settings.minSpeedup - 1;
  options.policy.regressionGuard = config.settings.maxLaunchRegression / 100;
  return options;
}

void printNote(const std::string &note, Terminal &terminal) {
  constexpr std::string_view kWarning = "warning:";
  if (note.starts_with(kWarning))
    terminal.line(terminal.paint(Style::Yellow, kWarning) + note.substr(kWarning.size()));
  else
    terminal.line(note);
}

void addNotes(const std::vector<std::string> &notes, Answer &answer, Terminal &terminal) {
  for (const std::string &note : notes) {
    answer.notes.push_back(note);
    printNote(note, terminal);
  }
}

Result<std::vector<fs::path>> candidateFiles(const std::vector<std::string> &candidates) {
  std::vector<fs::path> files;
  for (const std::string &candidate : candidates) {
    files.push_back(fs::absolute(candidate));
    if (!fs::exists(files.back()))
      return makeError(ErrorCode::Usage,
                       fmt::format("file {} does not exist", files.back().string()),
                       "give the changed file with --candidate");
  }
  return files;
}

void addProgram(CLI::App &app, std::string &program) {
  app.add_option("--run", program,
                 "command line of your program; the workload is then what it launches");
}

void addRunId(CLI::App &app, std::string &runId) {
  app.add_option("--run-id", runId, "name of a recorded run or session (default latest)");
}

} // namespace kopt
