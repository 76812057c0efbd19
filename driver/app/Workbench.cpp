// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Workbench.h"

#include "driver/device/build/NvccFlags.h"
#include "driver/device/build/Toolchains.h"
#include "driver/model/Json.h"
#include "driver/source/candidate/HostChanges.h"
#include "driver/support/Log.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

Result<std::unique_ptr<Workbench>> Workbench::open(Services services, const SourceSettings &sources,
                                                   const SelectionRequest &selection,
                                                   const DeviceConfig &device, SandboxMode sandbox,
                                                   const std::vector<int> &gpus,
                                                   const PlanKernels &plan) {
  std::unique_ptr<Workbench> bench(new Workbench(std::move(services), sources));
  KOPT_TRY(bench->sandbox_, Sandbox::open(bench->services_.processes,
                                          bench->services_.installation.sandbox, sandbox));
  KOPT_TRY(bench->scratch_, TemporaryDirectory::create("kopt"));
  KOPT_CHECK(bench->readSources(selection, plan));
  KOPT_TRY(bench->devices_, openDevices(bench->services_, device, gpus, bench->scratch(),
                                        bench->sandbox_, bench->compilers_));
  if (!bench->device().modelled)
    bench->code_.emplace(Disassembler(bench->services_.processes,
                                      bench->services_.installation.cuda.nvdisasm,
                                      bench->compilers_));
  KOPT_CHECK(bench->tellOfNotes());
  return bench;
}

Status Workbench::readSources(const SelectionRequest &selection, const PlanKernels &planKernels) {
  KOPT_TRY(const std::unique_ptr<Frontend> reader, openFrontend(services_));
  ExtractionResult found;
  {
    services_.terminal.status("reading the sources");
    const LoggedStage logged("read the sources");
    ExtractRequest look = extractRequest(sources_, scratch() / "look");
    look.prove = !canProve(services_);
    const auto start = services_.clock.now();
    KOPT_TRY(found, reader->extract(look));
    candidateDeadline_.took(services_.clock.now() - start);
    extractSeconds_ = Duration(services_.clock.now() - start).count();
  }
  const auto tellOf = [&](NoteKind kind) {
    for (const ExtractionNote &note : found.notes)
      if (note.kind == kind)
        services_.terminal.line("note: " + note.text);
  };
  tellOf(NoteKind::FileLeftOut);
  tellOf(NoteKind::SeveralCommands);
  KOPT_TRY(const std::string note, checkKernelNames(found, selection.clauses));
  if (!note.empty())
    services_.terminal.line("note: " + note);
  KernelPlan plan{selection, false};
  const auto symbolsOf = [](const KernelPlan &of) {
    const std::vector<std::string> symbols =
        of.selection.symbols.value_or(std::vector<std::string>());
    return std::set<std::string>(symbols.begin(), symbols.end());
  };
  KernelPlan ahead;
  std::future<Result<ExtractionResult>> proven; // its destructor waits for the result
  if (planKernels) {
    Result<KernelPlan> planned = planKernels(found, [&](const KernelPlan &soon) {
      ahead = soon;
      proven = std::async(std::launch::async, [&] { return extract(*reader, ahead, found); });
    });
    if (!planned)
      tellOf(NoteKind::PartlyRead); // it may be why
    KOPT_TRY(plan, std::move(planned));
  }
  leavesOut_ = plan.leaveOut;
  services_.terminal.status("proving that the kernels can be built alone");
  const auto start = services_.clock.now();
  const bool isAhead = proven.valid() && symbolsOf(ahead) == symbolsOf(plan);
  KOPT_TRY(extraction_, isAhead ? proven.get() : extract(*reader, plan, found));
  extractSeconds_ += Duration(services_.clock.now() - start).count();
  // Candidates may read the files that the user's own files were read with, and what their flags
  // name.
  std::vector<fs::path> readable = services_.installation.headers;
  std::error_code ignored;
  for (const auto &[file, hash] : extraction_.fileHashes) {
    readable.emplace_back(file);
    // These are real paths; the project may be reached by another path.
    for (const fs::path &source : sources_.files) {
      const fs::path folder = fs::absolute(source).lexically_normal().parent_path();
      const fs::path alias =
          (folder / fs::path(file).lexically_relative(fs::canonical(folder, ignored)))
              .lexically_normal();
      if (alias != file && fs::equivalent(alias, file, ignored))
        readable.push_back(alias);
    }
  }
  for (const KernelSpec &kernel : extraction_.kernels)
    for (const auto &[file, hash] : kernel.projectFiles)
      readable.emplace_back(file);
  // A separate cache from the one for the user's own files.
  compilers_ = CompilerSandbox(sandbox_, std::move(readable), cacheFolder() / "contained",
                               services_.installation.cuda.root.forChildren());
  KOPT_TRY(frontend_, openFrontend(services_, compilers_));
  return makeSubjects(plan);
}

Result<ExtractionResult> Workbench::extract(Frontend &reader, const KernelPlan &plan,
                                            const ExtractionResult &found) {
  // Report problems of the selection before proving slices, which takes long.
  if (!plan.leaveOut)
    KOPT_CHECK(selectSubjects(found, plan.selection));
  if (!canProve(services_))
    return found;
  KOPT_TRY(const std::vector<KernelInstance> wanted, selectInstances(found, plan.selection));
  const LoggedStage logged("prove the slices");
  const ExtractRequest request = proofRequest(sources_, scratch() / "extract", wanted);
  const auto start = services_.clock.now();
  KOPT_TRY(ExtractionResult extraction, reader.extract(request));
  candidateDeadline_.took(services_.clock.now() - start);
  return extraction;
}

Status Workbench::makeSubjects(const KernelPlan &plan) {
  clauses_ = plan.selection.clauses;
  KOPT_TRY(const std::vector<KernelInstance> chosen, selectInstances(extraction_, plan.selection));
  for (const KernelInstance &instance : chosen) {
    Result<TuneSubject> subject = makeSubject(extraction_, instance, plan.selection);
    if (subject)
      subjects_.push_back(std::move(*subject));
    else if (leavesOut_)
      leftOut_.push_back({instance.specialization->symbol, instance.specialization->expression,
                          subject.error().what});
    else
      return tl::unexpected(subject.error());
  }
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

namespace {

/// The constants that the kernel's launch sites name.
std::map<std::string, std::int64_t> launchConstants(const KernelSpec &kernel) {
  std::map<std::string, std::int64_t> values;
  for (const NamedConstant &constant : kernel.constants)
    if (constant.usedByLaunch)
      values[constant.name] = constant.value;
  return values;
}

/// True if the kernel's launches are known and the same in both versions of its file.
bool launchesAlike(const KernelSpec &a, const KernelSpec &b) {
  return !a.launches.empty() && launchConstants(a) == launchConstants(b) &&
         std::ranges::equal(a.launches, b.launches, [](const LaunchSite &x, const LaunchSite &y) {
           return x.geometry != GeometryKind::Unresolved && x.geometry == y.geometry &&
                  x.symbol == y.symbol && x.grid == y.grid && x.block == y.block &&
                  x.sharedBytes == y.sharedBytes && x.args == y.args;
         });
}

} // namespace

Result<HostText> Workbench::hostTextOf(const KernelSpec &kernel, const fs::path &file,
                                       const std::vector<std::string> &others) {
  HostRequest request{file.string(), kernel.compileFlags, kernel.directory, others};
  for (const TuneSubject &subject : subjects_)
    request.kernels.push_back(subject.kernel.name);
  return frontend_->hostText(request);
}

/// Reads the original's host code, once for each list of other kernels.
Result<const HostText *> Workbench::originalHostText(const KernelSpec &original,
                                                     const std::vector<std::string> &others) {
  const std::lock_guard turn(hostTextsInUse_);
  const auto key = std::pair(original.unit, others);
  auto known = hostTexts_.find(key);
  if (known == hostTexts_.end()) {
    KOPT_TRY(HostText text, hostTextOf(original, original.unit, others));
    known = hostTexts_.emplace(key, std::move(text)).first;
  }
  return &known->second;
}

Status Workbench::readHostCode(CandidateFile &file) {
  if (file.extraction.kernels.empty() || subjects_.empty())
    return {};
  const KernelSpec &original = subjects_.front().kernel;
  if (sameOutsideKernels(original.unit, extraction_, file.path.string(), file.extraction)) {
    // The candidate then opts in to more shared memory if the original does.
    KOPT_TRY(const std::string text, readFile(file.path));
    if (text.find("cudaFuncAttributeMaxDynamicSharedMemorySize") == text.npos)
      return {};
  }
  // A variable may also feed the launches of other kernels: where these are as they were, the
  // variable may change.
  std::vector<std::string> others;
  for (const KernelSpec &kernel : extraction_.kernels)
    if (std::ranges::any_of(file.extraction.kernels, [&](const KernelSpec &changed) {
          return changed.name == kernel.name && launchesAlike(kernel, changed);
        }))
      others.push_back(kernel.name);
  KOPT_TRY(const HostText *const known, originalHostText(original, others));
  const Result<HostText> text = hostTextOf(file.extraction.kernels.front(), file.path, others);
  if (!text && text.error().code == ErrorCode::BaselineFailed) {
    file.hostChange = fmt::format("of the candidate's file, {}", text.error().what);
    return {}; // the original's host code could be read
  }
  if (!text)
    return tl::unexpected(text.error());
  file.hostChange = hostChange(*known, extraction_, *text, file.extraction).value_or(std::string());
  file.largeShared.insert(text->largeShared.begin(), text->largeShared.end());
  return {};
}

static RunnerHooks hooksOf(const Services &services) {
  return {[&terminal = services.terminal](const std::string &text) { terminal.line(text); },
          [interrupted = services.interrupted] { return interrupted && *interrupted; }};
}

Result<OpenDevices> openDevices(const Services &services, const DeviceConfig &config,
                                const std::vector<int> &gpus, const fs::path &scratch,
                                const Sandbox &sandbox, const CompilerSandbox &compilers) {
  services.terminal.status("opening the device");
  const LoggedStage logged("open the device");
  const Installation &installation = services.installation;
  // It is made visible to the runner, so it must exist first.
  const fs::path built = scratch / "evaluate";
  KOPT_CHECK(createDirectories(built));
  OpenDevices opened;
  KOPT_TRY(opened.pool, startRunners(services.processes, installation.runner, config, gpus,
                                     scratch / "runner", installation.gpuSpecs, hooksOf(services),
                                     {sandbox, {built}, installation.cuda}));
  KOPT_TRY(auto compiler,
           makeEmulatedToolchain(services.processes, installation.frontend, compilers));
  opened.toolchain = makeRememberingToolchain(std::move(compiler));
  const DeviceInfo &device = opened.device();
  if (!device.modelled) {
    opened.emulator = std::move(opened.toolchain);
    KOPT_TRY(auto nvcc, makeNvccToolchain(services.processes, installation.cuda, compilers));
    opened.toolchain = makeRememberingToolchain(std::move(nvcc));
  }
  services.terminal.line(
      fmt::format("device: {}{} ({}{}), compiler: {}",
                  opened.pool.size() > 1 ? fmt::format("{} x ", opened.pool.size()) : "",
                  device.name, toString(device.kind), device.modelled ? ", times are modelled" : "",
                  opened.toolchain->name()));
  return opened;
}

Status Workbench::tellOfNotes() {
  for (const SandboxLayer &layer : sandbox_.layers())
    if (!layer.active)
      services_.terminal.line(
          fmt::format("note: candidates run without {}: {}", layer.name, layer.detail));
  for (const ExtractionNote &note : extraction_.notes)
    services_.terminal.line("note: " + note.text);
  std::vector<TuneSubject> kept;
  for (TuneSubject &subject : subjects_) {
    const Specialization &specialization = subject.specialization;
    if (specialization.route == Route::Slice && !specialization.reason.empty() &&
        !device().modelled)
      services_.terminal.line(
          fmt::format("note: the baseline of {} may differ from the code in your own build: {}",
                      subject.label, specialization.reason));
    if (specialization.route == Route::InPlace && device().modelled) {
      const auto error = makeError(
          ErrorCode::BaselineFailed,
          fmt::format(
              "kernel '{}' could not be lifted out ({}), so it is built in its own file, which the "
              "emulated device cannot run",
              subject.label, specialization.reason),
          "use --device cuda on a machine with a GPU and nvcc", placeOf(subject.kernel));
      if (!leavesOut_)
        return error;
      leftOut_.push_back({specialization.symbol, subject.label, error.value().what});
      continue;
    }
    if (specialization.route == Route::InPlace)
      services_.terminal.line(fmt::format(
          "note: {} could not be lifted out ({}): its candidates are built in {} as a whole",
          subject.label, specialization.reason, subject.kernel.unit));
    kept.push_back(std::move(subject));
  }
  subjects_ = std::move(kept);
  return {};
}

void Workbench::measureRates() {
  if (rates_ || device().modelled)
    return;
  services_.terminal.status("measuring what the device reaches");
  const LoggedStage logged("measure the rates of the device");
  const PooledRunner &first = devices_.pool.front();
  Result<MeasuredRates> measured = MeasuredRates();
  const auto measure = [&] { measured = first.runner->measureRates(); };
  if (first.thread)
    first.thread->runAndWait(measure);
  else
    measure();
  rates_ = measured ? std::move(*measured)
                    : MeasuredRates{0, 0, 0, 0, "all rates: " + measured.error().what};
}

nlohmann::json Workbench::describe() const {
  nlohmann::json gpus = nlohmann::json::array();
  for (const PooledRunner &member : devices_.pool)
    gpus.push_back(member.name);
  nlohmann::json described = toJson(device());
  described["gpus"] = gpus;
  described["toolchain"] = devices_.toolchain->name();
  described["sandbox"] = toJson(sandbox_.layers());
  if (rates_)
    described["measured"] = toJson(*rates_);
  return described;
}

Result<std::unique_ptr<Runner>> Workbench::openEmulated() {
  DeviceConfig config;
  config.kind = DeviceKind::Emulated;
  KOPT_TRY(auto runner, startRunner(services_.processes, services_.installation.runner, config,
                                    scratch() / fmt::format("emulated-{}", emulated_++),
                                    services_.installation.gpuSpecs, hooksOf(services_),
                                    {sandbox_, {scratch() / "evaluate"}, {}}));
  return runner;
}

Result<std::unique_ptr<Judge>> Workbench::makeJudge(const TuneSubject &subject,
                                                    const Workload &workload, JudgeOptions options,
                                                    const std::string &folder,
                                                    std::function<double()> secondsLeft) {
  options.scratch = scratch() / "evaluate" / folder;
  if (options.arch.empty())
    options.arch = device().arch;
  if (options.cache.empty())
    options.cache = cacheFolder() / "mutation";
  KOPT_CHECK(createDirectories(options.scratch));
  JudgeServices services{*frontend_, *devices_.toolchain, {}, [this](const std::string &text) {
                           services_.terminal.line(text);
                         }};
  services.secondsLeft = std::move(secondsLeft);
  if (!device().modelled)
    services.emulated = {devices_.emulator.get(), [this] { return openEmulated(); }};
  for (const PooledRunner &member : devices_.pool) {
    // If code is to be counted, only one device profiles at a time: the judge's first.
    const auto profile =
        [this, runner = member.runner.get(), symbol = subject.specialization.symbol](
            ModuleId module, const fs::path &path, const Launch &launch) -> Result<ProfileOutcome> {
      auto listing = code_ ? code_->begin(path) : CodeCounter::Listing();
      KOPT_TRY(ProfileOutcome outcome, runner->profile(module, launch, RunOptions{}));
      if (code_ && outcome.status == RunStatus::Ok)
        code_->addTo(outcome, std::move(listing), symbol);
      return outcome;
    };
    LinesFunction lines;
    if (code_)
      lines = [this, symbol = subject.specialization.symbol](const fs::path &path) {
        return code_->lines(path, symbol);
      };
    services.devices.push_back({*member.runner, profile, member.name, member.thread.get(), lines});
  }
  return std::make_unique<LocalJudge>(
      std::move(services), Subject{subject, workload, keptByLaunches(subject, workload.launches)},
      std::move(options));
}

} // namespace kopt
