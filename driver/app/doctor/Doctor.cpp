// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/Doctor.h"

#include "driver/app/doctor/GpuChecks.h"
#include "driver/app/doctor/HostChecks.h"
#include "driver/app/doctor/ModelChecks.h"
#include "driver/app/doctor/ProjectChecks.h"
#include "driver/config/GpuSelection.h"
#include "driver/device/build/BuildCache.h"
#include "driver/device/build/Toolchains.h"
#include "driver/device/capture/ObserveProgram.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/device/runner/RunnerPool.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {
namespace {

using Pool = std::vector<PooledRunner>;

/// "2 x NVIDIA H200 sm_90"
std::string describe(const DeviceInfo &device, std::size_t count) {
  return fmt::format("{}{} {}", count > 1 ? fmt::format("{} x ", count) : "", device.name,
                     device.arch);
}

class Doctor {
public:
  Doctor(Services &services, const DoctorRequest &request)
      : services_(services), request_(request) {}

  MachineReport examine() {
    const MachineCheck configuration = readConfiguration();
    const std::filesystem::path &frontend = services_.installation.frontend;
    add("front end", !frontend.empty(), CheckOutcome::Blocking,
        frontend.empty() ? "this build of kopt has none, so it cannot read CUDA sources"
                         : frontend.string(),
        "build kopt with KOPT_BUILD_FRONTEND=ON, or use the released package");
    examineCompiler();
    const auto scratch = TemporaryDirectory::create("kopt");
    report_.checks.push_back(
        scratch ? passed("temporary folder", scratch->path().parent_path().string())
                : failed("temporary folder", CheckOutcome::Blocking, scratch.error()));
    const FolderUse builds = trimBuilds(buildCacheFolder());
    report_.checks.push_back(passed(
        "build cache",
        fmt::format("{}: {} in {}, of at most {}", buildCacheFolder().string(),
                    formatBytes(double(builds.bytes)), counted(builds.files, "build", "builds"),
                    formatBytes(double(options_.buildCache) * (1 << 20)))));
    const Sandbox sandbox = examineSandbox();
    if (request_.executor.choice.kind != ExecutorKind::Local) {
      HostReport hosts = checkHosts(services_, request_.executor);
      addAll(std::move(hosts.checks));
      report_.device = hosts.device;
    } else {
      if (scratch)
        examineDevices(sandbox, scratch->path());
      examineCapture();
      examineProfilers();
    }
    const auto http = makeHttpClient();
    addAll(checkModels(options_, findProviders(request_.config.environment), *http,
                       services_.processes));
    if (!configuration.name.empty())
      report_.checks.push_back(configuration);
    examineProject();
    conclude(report_, gpuMissing_);
    return std::move(report_);
  }

private:
  void add(std::string name, bool ok, CheckOutcome otherwise, std::string detail,
           std::string remedy) {
    report_.checks.push_back(
        ok ? passed(std::move(name), std::move(detail))
           : failed(std::move(name), otherwise, std::move(detail), std::move(remedy)));
  }
  void addAll(std::vector<MachineCheck> checks) {
    std::move(checks.begin(), checks.end(), std::back_inserter(report_.checks));
  }

  /// Adds the check of a program or library; `without` says what does not work if it is missing.
  void addPart(std::string name, const Result<std::filesystem::path> &part,
               const std::string &without) {
    add(std::move(name), part.has_value(), CheckOutcome::Optional,
        part ? part->string() : part.error().what,
        part ? std::string() : part.error().hint + "; without it " + without);
  }

  /// What is missing blocks the tuning after all, because of what was found since.
  void demand(const std::string &name, const std::string &alternative) {
    for (MachineCheck &check : report_.checks)
      if (check.name == name && !check.ok()) {
        check.outcome = CheckOutcome::Blocking;
        check.remedy += (check.remedy.empty() ? "" : "; ") + alternative;
      }
  }

  /// Reads the options that the other checks depend on. A check without a name: there is nothing to
  /// say, as no file and no variable sets an option.
  MachineCheck readConfiguration() {
    const std::string name = "configuration";
    const Result<Config> config = loadConfig(request_.config);
    if (!config) // nothing of it is used, and the rest is checked with the defaults
      return failed(name, CheckOutcome::Blocking, config.error());
    config_ = *config;
    options_ = config_.settings;
    gpus_ = parseGpuSelection(options_.gpus).value_or(gpus_); // was checked with the others
    const auto file = nearestConfig(request_.config.directory);
    return file.empty() ? MachineCheck() : passed(name, file.string());
  }

  void examineCompiler() {
    const CudaToolkit &cuda = services_.installation.cuda;
    const CudaRoot &root = cuda.root;
    const bool found = root.state == CudaRoot::State::Found;
    // kopt works without a toolkit, but does not guess what a wrong KOPT_CUDA_PATH means.
    add("CUDA toolkit", found,
        root.state == CudaRoot::State::Wrong ? CheckOutcome::Blocking : CheckOutcome::Optional,
        found
            ? fmt::format("{} {} (chosen by {})", cuda.version, root.folder.string(), root.chosenBy)
            : root.problem,
        root.remedy);
    const auto nvcc = makeNvccToolchain(services_.processes, cuda);
    if (nvcc)
      report_.checks.push_back(
          passed("nvcc", fmt::format("{} ({})", (*nvcc)->name(), cuda.nvcc->string())));
    else
      addPart("nvcc", tl::unexpected(nvcc.error()),
              "slices cannot be proven and nothing is measured");
  }

  /// The sandbox that candidates would run in.
  Sandbox examineSandbox() {
    // The text was checked when the configuration was read.
    const SandboxMode mode =
        parseEnum<SandboxMode>(options_.sandbox).value_or(SandboxMode::Required);
    auto sandbox =
        Sandbox::open(services_.processes, services_.installation.sandbox, SandboxMode::Auto);
    if (!sandbox) {
      report_.checks.push_back(failed(
          "sandbox", mode == SandboxMode::Off ? CheckOutcome::Optional : CheckOutcome::Blocking,
          sandbox.error()));
      return Sandbox();
    }
    for (const SandboxLayer &layer : sandbox->layers())
      add("sandbox: " + layer.name, layer.active,
          mode == SandboxMode::Required ? CheckOutcome::Blocking : CheckOutcome::Optional,
          layer.detail, layer.remedy);
    return mode == SandboxMode::Off ? Sandbox() : std::move(*sandbox);
  }

  Result<Pool> open(DeviceKind kind, const std::vector<int> &ordinals, const Sandbox &sandbox,
                    const std::filesystem::path &scratch) {
    DeviceConfig device;
    device.kind = kind;
    device.modelGpu = options_.modelGpu;
    return startRunners(services_.processes, services_.installation.runner, device, ordinals,
                        scratch, services_.installation.gpuSpecs, {},
                        {sandbox, {}, services_.installation.cuda});
  }

  void examineDevices(const Sandbox &sandbox, const std::filesystem::path &scratch) {
    // The text was checked when the configuration was read.
    const DeviceKind wanted = parseEnum<DeviceKind>(options_.device).value_or(DeviceKind::Auto);
    const std::vector<int> one{gpus_.empty() ? 0 : gpus_.front()};
    Result<Pool> gpu = open(DeviceKind::Cuda, one, sandbox, scratch / "cuda");
    const bool hasGpu = gpu.has_value();
    if (hasGpu && wanted != DeviceKind::Emulated && gpus_ != one) {
      gpu->clear();
      gpu = open(DeviceKind::Cuda, gpus_, sandbox, scratch / "gpus");
    }
    const bool onGpu = wanted == DeviceKind::Cuda || (wanted == DeviceKind::Auto && hasGpu);
    gpuMissing_ = wanted == DeviceKind::Auto && !hasGpu;
    if (gpu)
      report_.checks.push_back(
          passed("cuda device", describe(gpu->front().runner->device(), gpu->size())));
    else // with a GPU, it is the configuration that asks for more than there is
      report_.checks.push_back(failed(
          "cuda device", onGpu ? CheckOutcome::Blocking : CheckOutcome::Optional, gpu.error().what,
          hasGpu ? gpu.error().hint
                 : "without a GPU, tune on the emulated device: its times are modelled",
          gpu.error().code));
    const Result<Pool> emulated = open(DeviceKind::Emulated, onGpu ? std::vector<int>{0} : gpus_,
                                       sandbox, scratch / "emulated");
    if (emulated)
      report_.checks.push_back(passed(
          "emulated device", describe(emulated->front().runner->device(), emulated->size())));
    else
      report_.checks.push_back(failed("emulated device",
                                      onGpu ? CheckOutcome::Optional : CheckOutcome::Blocking,
                                      emulated.error()));
    if (const Result<Pool> &used = onGpu ? gpu : emulated; used)
      report_.device = used->front().runner->device();
    if (report_.device)
      report_.checks.push_back(passed(
          "memory for data",
          fmt::format("captured launches may take {} together (a quarter of this machine's memory, "
                      "or half of what is free in {}); {} has {}",
                      formatBytes(double(TraceSettings().snapshotBytesIn(scratch))),
                      scratch.parent_path().string(), report_.device->name,
                      formatBytes(double(report_.device->memoryBytes)))));
    if (onGpu)
      demand("nvcc", "or tune on the emulated device, with --device emulated");
    if (gpu)
      for (const PooledRunner &member : *gpu)
        examineGpu(member, gpu->size() > 1 ? " (" + member.name + ")" : std::string());
    if (const auto counters = checkCounters(counterPermission()))
      report_.checks.push_back(*counters);
  }

  void examineGpu(const PooledRunner &member, const std::string &suffix) {
    const DeviceInfo &device = member.runner->device();
    const auto bus = device.facts.find("pci_bus");
    OtherLoad others(makeGpuActivity(bus == device.facts.end() ? std::string() : bus->second));
    DeviceLock lock(deviceLockFile(device.uuid), device.name, {});
    for (MachineCheck check : {checkOtherPrograms(others, 1), checkOtherKopt(lock)}) {
      check.name += suffix;
      if (options_.device == "emulated" && check.outcome == CheckOutcome::Blocking)
        check.outcome = CheckOutcome::Optional;
      report_.checks.push_back(std::move(check));
    }
  }

  void examineCapture() {
    const CudaToolkit &cuda = services_.installation.cuda;
    const CaptureSetup capture = findCapture(services_.installation.runner.parent_path(), cuda);
    add("capture library", !capture.library.empty(), CheckOutcome::Optional,
        capture.library.empty() ? "libkopt-capture.so is missing from this installation"
                                : capture.library.string(),
        "build or install kopt as a whole: 'kopt observe' and --run need libkopt-capture.so");
    addPart("CUPTI", cuda.cupti.map([](const auto &files) { return files.front(); }),
            "no program is observed");
    if (options_.run.empty())
      return;
    // The configuration makes every tuning begin with the program's launches.
    if (const Status ready = checkCapture(capture); !ready)
      report_.checks.push_back(failed("program to observe", CheckOutcome::Blocking, ready.error()));
    else
      report_.checks.push_back(passed("program to observe", options_.run.front()));
  }

  void examineProfilers() {
    const CudaToolkit &cuda = services_.installation.cuda;
    addPart("Nsight Compute", cuda.ncu,
            "there are no sections and advice, nor hardware counters where CUPTI has none");
    addPart("nvdisasm", cuda.nvdisasm, "the machine code is not read");
    addPart("compute-sanitizer", cuda.computeSanitizer,
            "no launch on a GPU is checked for wrong memory accesses");
  }

  void examineProject() {
    ProjectPlaces places;
    places.root = projectRoot(config_);
    places.lockFolder = headerFolder(config_, {});
    places.buildFolder = request_.buildFolder;
    places.buildGiven = !request_.buildFolder.empty();
    if (const auto known = config_.manifest.find("build_dir");
        !places.buildGiven && known != config_.manifest.end())
      places.buildFolder = known->second;
    addAll(checkProject(services_.processes, places));
  }

  Services &services_;
  const DoctorRequest &request_;
  Config config_;           ///< empty if the configuration is not valid
  ResolvedOptions options_; ///< then the defaults
  std::vector<int> gpus_{0};
  bool gpuMissing_ = false;
  MachineReport report_;
};

} // namespace

void conclude(MachineReport &report, bool gpuMissing) {
  report.blocked.reset();
  std::vector<std::string> others;
  for (const MachineCheck &check : report.checks) {
    if (check.outcome != CheckOutcome::Blocking)
      continue;
    const std::string what = fmt::format("{}: {}", check.name, check.detail);
    if (!report.blocked)
      report.blocked = Error{check.code, "tuning cannot start: " + what, {}, check.remedy, {}};
    else
      report.blocked->context.push_back("nor with this: " + what);
  }
  if (report.blocked) {
    const std::size_t more = report.blocked->context.size();
    report.conclusion = report.blocked->what;
    if (!report.blocked->hint.empty())
      report.conclusion += "; " + report.blocked->hint;
    if (more > 0)
      report.conclusion += fmt::format(" (and {} more, as above)", more);
    return;
  }
  if (!report.device)
    return;
  const DeviceInfo &device = *report.device;
  report.conclusion =
      device.modelled
          ? fmt::format("tuning can start: on the emulated device{} ({} {}): times are modelled",
                        gpuMissing ? " only" : "", device.name, device.arch)
          : fmt::format("tuning can start: on the GPU {} {}", device.name, device.arch);
}

MachineReport examineMachine(Services services, const DoctorRequest &request) {
  return Doctor(services, request).examine();
}

} // namespace kopt
