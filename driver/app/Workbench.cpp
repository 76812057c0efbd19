// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Workbench.h"

#include "driver/device/build/NvccFlags.h"
#include "driver/device/build/Toolchains.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// Whether a kernel may be marked in the files themselves. A header of theirs may mark one, too.
bool mayBeMarked(const std::vector<fs::path> &files) {
  return std::ranges::any_of(files, [](const fs::path &file) {
    const auto text = readFile(file);
    return !text || text->find("KOPT_TUNE") != text->npos || text->find("kopt::tune") != text->npos;
  });
}

} // namespace

Result<std::unique_ptr<Workbench>> Workbench::open(Services services, const SourceSettings &sources,
                                                   const SelectionRequest &selection,
                                                   const DeviceConfig &device, SandboxMode sandbox,
                                                   const std::vector<int> &gpus) {
  std::unique_ptr<Workbench> bench(new Workbench(std::move(services), sources));
  KOPT_TRY(bench->sandbox_, Sandbox::open(bench->services_.processes,
                                          bench->services_.installation.sandbox, sandbox));
  KOPT_TRY(bench->scratch_, TemporaryDirectory::create("kopt"));
  KOPT_CHECK(bench->readSources(selection));
  KOPT_CHECK(bench->openDevices(device, gpus));
  return bench;
}

Status Workbench::readSources(const SelectionRequest &selection) {
  services_.terminal.status("reading the sources");
  const LoggedStage logged("read the sources");
  KOPT_TRY(const std::unique_ptr<Frontend> reader, openFrontend(services_));
  // That nothing is marked is told before slices are proved, which takes the compiler a while.
  if (selection.globs.empty() && selection.clauses.empty() && !mayBeMarked(sources_.files)) {
    ExtractRequest quick = extractRequest(sources_, {});
    quick.prove = false;
    quick.output = scratch() / "look";
    KOPT_TRY(const ExtractionResult found, reader->extract(quick));
    if (std::ranges::none_of(found.kernels, &KernelSpec::annotated))
      KOPT_CHECK(selectSubjects(found, selection));
  }
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(extraction_, reader->extract(extractRequest(sources_, scratch() / "extract")));
  candidateDeadline_.took(Duration(std::chrono::steady_clock::now() - start));
  // Candidates see what the user's own files were read with, and what their flags name.
  std::vector<fs::path> readable = services_.installation.headers;
  std::error_code ignored;
  for (const auto &[file, hash] : extraction_.fileHashes) {
    readable.emplace_back(file);
    // They are known by their real paths; a project may be reached by another one.
    for (const fs::path &source : sources_.files) {
      const fs::path folder = fs::absolute(source).lexically_normal().parent_path();
      const fs::path alias =
          (folder / fs::path(file).lexically_relative(fs::canonical(folder, ignored)))
              .lexically_normal();
      if (alias != file && fs::equivalent(alias, file, ignored))
        readable.push_back(alias);
    }
  }
  // A cache apart from the one that the user's own files are read with.
  compilers_ = CompilerSandbox(sandbox_, std::move(readable), cacheFolder() / "contained",
                               services_.installation.cuda.root.forChildren());
  KOPT_TRY(frontend_, openFrontend(services_, compilers_));
  KOPT_TRY(subjects_, selectSubjects(extraction_, selection));
  return {};
}

Result<CandidateFile> Workbench::readCandidate(const fs::path &file, const std::string &arch) {
  ExtractRequest request =
      extractRequest(sources_, scratch() / fmt::format("candidate-{}", candidates_++));
  request.files = {file};
  request.timeout = candidateDeadline_.now();
  if (request.flags.empty() && !subjects_.empty())
    request.flags = subjects_.front().kernel.compileFlags;
  std::vector<std::string> fallback;
  if (!namesArch(request.flags))
    fallback.push_back("-arch=" + (arch.empty() ? device().arch : arch));
  const fs::path original = subjects_.empty() ? file : fs::path(subjects_.front().kernel.unit);
  KOPT_TRY(CandidateFile read,
           readCandidateFile(*frontend_, std::move(request), original, fallback));
  if (!read.compileError)
    KOPT_CHECK(readHostCode(read));
  return read;
}

Result<HostText> Workbench::hostTextOf(const KernelSpec &kernel, const fs::path &file) {
  HostRequest request{file.string(), kernel.compileFlags, kernel.directory, {}};
  for (const TuneSubject &subject : subjects_)
    request.kernels.push_back(subject.kernel.name);
  return askHostText(services_.processes, services_.installation.frontend, compilers_, request);
}

Status Workbench::readHostCode(CandidateFile &file) {
  if (file.extraction.kernels.empty() || subjects_.empty())
    return {};
  const KernelSpec &original = subjects_.front().kernel;
  if (sameOutsideKernels(original.unit, extraction_, file.path.string(), file.extraction)) {
    // Then it opts in where the original does.
    KOPT_TRY(const std::string text, readFile(file.path));
    if (text.find("cudaFuncAttributeMaxDynamicSharedMemorySize") == text.npos)
      return {};
  }
  auto known = hostTexts_.find(original.unit);
  if (known == hostTexts_.end()) {
    KOPT_TRY(HostText text, hostTextOf(original, original.unit));
    known = hostTexts_.emplace(original.unit, std::move(text)).first;
  }
  KOPT_TRY(const HostText text, hostTextOf(file.extraction.kernels.front(), file.path));
  file.hostChange =
      hostChange(known->second, extraction_, text, file.extraction).value_or(std::string());
  file.largeShared.insert(text.largeShared.begin(), text.largeShared.end());
  return {};
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
    const Specialization &specialization = subject.specialization;
    if (specialization.route == Route::Slice && !specialization.reason.empty() &&
        !device().modelled)
      services_.terminal.line(
          fmt::format("note: the baseline of {} may differ from the code in your own build: {}",
                      subject.label, specialization.reason));
    if (specialization.route != Route::InPlace)
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
  return std::make_unique<LocalJudge>(std::move(services),
                                      Subject{subject.kernel, subject.specialization,
                                              subject.sliceText, workload, subject.declaration},
                                      std::move(options));
}

} // namespace kopt
