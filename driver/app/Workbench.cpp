// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Workbench.h"

#include "driver/device/build/NvccFlags.h"
#include "driver/device/build/Toolchains.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/Log.h"

#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

/// The folder in which the user's file belongs to a project: the nearest with a .git, else the
/// file's own.
fs::path projectOf(const fs::path &file) {
  std::error_code ignored;
  const fs::path own = fs::absolute(file, ignored).lexically_normal().parent_path();
  for (fs::path folder = own; folder != folder.root_path(); folder = folder.parent_path())
    if (fs::exists(folder / ".git", ignored))
      return folder;
  return own;
}

} // namespace

Result<std::unique_ptr<Workbench>> Workbench::open(Services services, const SourceSettings &sources,
                                                   const SelectionRequest &selection,
                                                   const DeviceConfig &device, SandboxMode sandbox,
                                                   const std::vector<int> &gpus) {
  std::unique_ptr<Workbench> bench(new Workbench(std::move(services), sources));
  KOPT_TRY(bench->sandbox_, Sandbox::open(bench->services_.processes,
                                          bench->services_.installation.sandbox, sandbox));
  std::vector<fs::path> readable = bench->services_.installation.headers;
  for (const fs::path &file : sources.files)
    readable.push_back(projectOf(file));
  // A cache apart from the one that the user's own files are read with.
  bench->compilers_ =
      CompilerSandbox(bench->sandbox_, std::move(readable), cacheFolder() / "contained",
                      bench->services_.installation.cuda.root.forChildren());
  KOPT_TRY(bench->scratch_, TemporaryDirectory::create("kopt"));
  KOPT_CHECK(bench->readSources(selection));
  KOPT_CHECK(bench->openDevices(device, gpus));
  return bench;
}

Status Workbench::readSources(const SelectionRequest &selection) {
  services_.terminal.status("reading the sources");
  const LoggedStage logged("read the sources");
  KOPT_TRY(frontend_, openFrontend(services_, compilers_));
  KOPT_TRY(extraction_, frontend_->extract(extractRequest(sources_, scratch() / "extract")));
  KOPT_TRY(subjects_, selectSubjects(extraction_, selection));
  return {};
}

Result<CandidateFile> Workbench::readCandidate(const fs::path &file, const std::string &arch) {
  ExtractRequest request =
      extractRequest(sources_, scratch() / fmt::format("candidate-{}", candidates_++));
  request.files = {file};
  if (request.flags.empty() && !subjects_.empty())
    request.flags = subjects_.front().kernel.compileFlags;
  std::vector<std::string> fallback;
  if (!namesArch(request.flags))
    fallback.push_back("-arch=" + (arch.empty() ? device().arch : arch));
  return readCandidateFile(*frontend_, std::move(request), fallback);
}

Status Workbench::openDevices(const DeviceConfig &config, const std::vector<int> &gpus) {
  services_.terminal.status("opening the device");
  const LoggedStage logged("open the device");
  // What is built lies there; the runner is shown the folder, so it has to be there first.
  const fs::path built = scratch_->path() / "evaluate";
  KOPT_CHECK(createDirectories(built));
  KOPT_TRY(pool_, startRunners(services_.processes, services_.installation.runner, config, gpus,
                               scratch_->path() / "runner", services_.installation.gpuSpecs,
                               hooks(), {sandbox_, {built}, services_.installation.cuda}));
  if (device().modelled) {
    KOPT_TRY(toolchain_, makeEmulatedToolchain(services_.processes, services_.installation.frontend,
                                               compilers_));
  } else {
    KOPT_TRY(toolchain_,
             makeNvccToolchain(services_.processes, services_.installation.cuda, compilers_));
    code_.emplace(
        Disassembler(services_.processes, services_.installation.cuda.nvdisasm, compilers_));
  }
  services_.terminal.line(fmt::format("device: {}{} ({}{}), compiler: {}",
                                      pool_.size() > 1 ? fmt::format("{} x ", pool_.size()) : "",
                                      device().name, toString(device().kind),
                                      device().modelled ? ", times are modelled" : "",
                                      toolchain_->name()));
  for (const SandboxLayer &layer : sandbox_.layers())
    if (!layer.active)
      services_.terminal.line(
          fmt::format("note: candidates run without {}: {}", layer.name, layer.detail));
  for (const std::string &note : extraction_.notes)
    services_.terminal.line("note: " + note);
  for (const TuneSubject &subject : subjects_) {
    if (subject.specialization.route != Route::InPlace)
      continue;
    if (device().modelled)
      return makeError(
          ErrorCode::BaselineFailed,
          fmt::format(
              "kernel '{}' could not be lifted out ({}), so it is built in its own file, which the "
              "emulated device cannot run",
              subject.label, subject.specialization.reason),
          "use --device cuda on a machine with a GPU and nvcc",
          fmt::format("{}:{}", subject.kernel.file, subject.kernel.line));
    services_.terminal.line(fmt::format(
        "note: {} could not be lifted out ({}): its candidates are built in {} as a whole",
        subject.label, subject.specialization.reason, subject.kernel.unit));
  }
  return {};
}

RunnerHooks Workbench::hooks() {
  return {[this](const std::string &text) { services_.terminal.line(text); },
          [this] { return services_.interrupted && *services_.interrupted; }};
}

Result<EmulatedDevice> Workbench::openEmulated() {
  EmulatedDevice device;
  KOPT_TRY(device.toolchain,
           makeEmulatedToolchain(services_.processes, services_.installation.frontend, compilers_));
  DeviceConfig config;
  config.kind = DeviceKind::Emulated;
  KOPT_TRY(device.runner, startRunner(services_.processes, services_.installation.runner, config,
                                      scratch() / fmt::format("emulated-{}", emulated_++),
                                      services_.installation.gpuSpecs, hooks(),
                                      {sandbox_, {scratch() / "evaluate"}, {}}));
  return device;
}

Result<std::unique_ptr<Judge>> Workbench::makeJudge(const TuneSubject &subject,
                                                    const Workload &workload, JudgeOptions options,
                                                    const std::string &folder) {
  options.scratch = scratch() / "evaluate" / folder;
  if (options.arch.empty())
    options.arch = device().arch;
  if (options.cache.empty())
    options.cache = cacheFolder() / "mutation";
  KOPT_CHECK(createDirectories(options.scratch));
  JudgeServices services{*frontend_, *toolchain_, {}, [this](const std::string &text) {
                           services_.terminal.line(text);
                         }};
  if (!device().modelled)
    services.emulate = [this] { return openEmulated(); };
  for (const PooledRunner &member : pool_) {
    // Where there is code to count one device alone profiles at a time: the judge's first.
    const auto profile =
        [this, runner = member.runner.get(), symbol = subject.specialization.symbol](
            ModuleId module, const fs::path &path, const Launch &launch) -> Result<ProfileOutcome> {
      KOPT_TRY(ProfileOutcome outcome, runner->profile(module, launch, RunOptions{}));
      if (code_ && outcome.status == RunStatus::Ok)
        code_->addTo(outcome, path, symbol);
      return outcome;
    };
    services.devices.push_back({*member.runner, profile, member.name, member.thread.get()});
  }
  // Captured launches come from no declaration: nothing else can be made from one.
  bool captured = false;
  for (const Launch &launch : workload.launches)
    for (const Buffer &buffer : launch.buffers)
      captured |= buffer.fill.kind == FillKind::Captured;
  std::optional<TuneDeclaration> declaration;
  if (!captured)
    declaration = subject.declaration;
  return std::make_unique<LocalJudge>(std::move(services),
                                      Subject{subject.kernel, subject.specialization,
                                              subject.sliceText, workload, std::move(declaration)},
                                      std::move(options));
}

} // namespace kopt
