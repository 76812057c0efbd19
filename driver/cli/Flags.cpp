// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Flags.h"

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

void ConfigFlags::addKernel(CLI::App &app) {
  app.add_option(
      "--kernel", options.kernels,
      "kernels to select, by name or glob, as 'scale' or 'scale<float, 4>' (default: the "
      "annotated ones)");
}

void ConfigFlags::addDeviceKind(CLI::App &app) {
  app.add_option("--device", options.device,
                 "where kernels run: `cuda`, `emulated`, or `auto` for a GPU if one is available "
                 "(default auto)")
      ->check(CLI::IsMember({"auto", "cuda", "emulated"}));
}

void ConfigFlags::addDevice(CLI::App &app) {
  addDeviceKind(app);
  app.add_option("--arch", options.arch,
                 "GPU architecture to build for, as sm_NN (default: the device's)");
}

void ConfigFlags::addPlace(CLI::App &app) {
  addKernel(app);
  addDevice(app);
  app.add_option("--model-gpu", options.modelGpu,
                 "GPU whose times the emulated device models (default H200)");
  app.add_option("--sandbox", options.sandbox,
                 "sandbox for candidates: `auto` uses what this machine supports, `required` fails "
                 "if a layer is missing, `off` disables it (default auto)");
  addManifest(app);
}

void ConfigFlags::addManifest(CLI::App &app) {
  app.add_option("--manifest", manifest, "manifest file that kopt_tune_kernels() wrote");
}

void ConfigFlags::addAssurance(CLI::App &app) {
  app.add_option("--assurance", options.assurance,
                 "what a win needs: `standard` takes one and lists what was not shown of it, "
                 "`strict` (for CI) takes only what was shown in full (default standard)")
      ->check(CLI::IsMember({"standard", "strict"}));
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

DeviceConfig deviceOf(const Config &config) {
  DeviceConfig device;
  // The text was checked when the configuration was read.
  device.kind = parseEnum<DeviceKind>(config.settings.device).value_or(DeviceKind::Auto);
  device.modelGpu = config.settings.modelGpu;
  return device;
}

/// The text has been checked when the configuration was read.
SandboxMode sandboxOf(const Config &config) {
  return parseEnum<SandboxMode>(config.settings.sandbox).value_or(SandboxMode::Required);
}

/// The text has been checked when the configuration was read.
AssurancePolicy assuranceOf(const Config &config) {
  return parseEnum<AssurancePolicy>(config.settings.assurance).value_or(AssurancePolicy::Strict);
}

SelectionRequest selectionOf(const Config &config) {
  return {config.settings.kernels, config.kernels};
}

void printNote(const std::string &note, Terminal &terminal) {
  constexpr std::string_view kWarning = "warning:";
  if (note.starts_with(kWarning))
    terminal.line(terminal.paint(Style::Yellow, kWarning) + note.substr(kWarning.size()));
  else
    terminal.line(note);
}

void addModel(CLI::App &app, TuneOptions &options) {
  app.add_option("--model", options.model,
                 "language model for the llm proposer: anthropic:MODEL, openai:MODEL or "
                 "exec:COMMAND");
}

void addProgram(CLI::App &app, std::string &program) {
  app.add_option("--run", program,
                 "command line of your program; the workload is then what it launches");
}

void addRunId(CLI::App &app, std::string &runId) {
  app.add_option("--run-id", runId, "name of a recorded run or session (default latest)");
}

} // namespace kopt
