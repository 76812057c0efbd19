// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Doctor.h"

#include "driver/device/build/Toolchains.h"
#include "driver/device/capture/ObserveProgram.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/FileSystem.h"

#include <fmt/format.h>

namespace kopt {
namespace {

class Doctor {
public:
  explicit Doctor(Services &services) : services_(services) {}

  MachineReport examine() {
    add("front end", !services_.installation.frontend.empty(),
        services_.installation.frontend.string(), "build kopt with KOPT_BUILD_FRONTEND=ON");
    examineCompiler();
    const auto scratch = TemporaryDirectory::create("kopt");
    add("temporary folder", scratch.has_value(),
        scratch ? scratch->path().parent_path().string() : scratch.error().what,
        scratch ? "" : scratch.error().hint);
    const Sandbox sandbox = examineSandbox();
    if (scratch)
      examineDevices(sandbox, scratch->path());
    else
      report_.blocked = scratch.error();
    examineCapture();
    examineProfilers();
    return std::move(report_);
  }

private:
  void add(std::string name, bool ok, std::string detail, std::string remedy) {
    report_.checks.push_back(
        {std::move(name), ok, std::move(detail), ok ? std::string() : std::move(remedy)});
  }

  /// Adds the check of a program or library; `without` says what does not work if it is missing.
  void addPart(std::string name, const Result<std::filesystem::path> &part,
               const std::string &without) {
    add(std::move(name), part.has_value(), part ? part->string() : part.error().what,
        part ? std::string() : part.error().hint + "; without it " + without);
  }

  void examineCompiler() {
    const CudaToolkit &cuda = services_.installation.cuda;
    const CudaRoot &root = cuda.root;
    const bool found = root.state == CudaRoot::State::Found;
    add("CUDA toolkit", found,
        found
            ? fmt::format("{} {} (chosen by {})", cuda.version, root.folder.string(), root.chosenBy)
            : root.problem,
        root.remedy);
    const auto nvcc = makeNvccToolchain(services_.processes, cuda);
    if (nvcc)
      add("nvcc", true, fmt::format("{} ({})", (*nvcc)->name(), cuda.nvcc->string()), "");
    else
      addPart("nvcc", tl::unexpected(nvcc.error()),
              "slices cannot be proven and nothing is measured");
  }

  Sandbox examineSandbox() {
    auto sandbox =
        Sandbox::open(services_.processes, services_.installation.sandbox, SandboxMode::Auto);
    if (!sandbox) {
      add("sandbox", false, sandbox.error().what, sandbox.error().hint);
      return Sandbox();
    }
    for (const SandboxLayer &layer : sandbox->layers())
      add("sandbox: " + layer.name, layer.active, layer.detail, layer.remedy);
    return std::move(*sandbox);
  }

  void examineDevices(const Sandbox &sandbox, const std::filesystem::path &scratch) {
    for (const DeviceKind wanted : {DeviceKind::Cuda, DeviceKind::Emulated}) {
      const std::string kind = toString(wanted);
      DeviceConfig device;
      device.kind = wanted;
      device.modelGpu = "H200";
      const auto runner = startRunner(services_.processes, services_.installation.runner, device,
                                      scratch / kind, services_.installation.gpuSpecs, {},
                                      {sandbox, {}, services_.installation.cuda});
      add(kind + " device", runner.has_value(),
          runner ? (*runner)->device().name + " " + (*runner)->device().arch : runner.error().what,
          wanted == DeviceKind::Cuda
              ? "without a GPU, tune on the emulated device: its times are modelled"
              : "");
    }
  }

  void examineCapture() {
    const CudaToolkit &cuda = services_.installation.cuda;
    const CaptureSetup capture = findCapture(services_.installation.runner.parent_path(), cuda);
    add("capture library", !capture.library.empty(), capture.library.string(),
        "build or install kopt as a whole: 'kopt observe' and --run need libkopt-capture.so");
    addPart("CUPTI", cuda.cupti.map([](const auto &files) { return files.front(); }),
            "no program is observed");
  }

  void examineProfilers() {
    const CudaToolkit &cuda = services_.installation.cuda;
    addPart("Nsight Compute", cuda.ncu,
            "there are no sections and advice, nor hardware counters where CUPTI has none");
    addPart("nvdisasm", cuda.nvdisasm, "the machine code is not read");
    addPart("compute-sanitizer", cuda.computeSanitizer,
            "no launch on a GPU is checked for wrong memory accesses");
  }

  Services &services_;
  MachineReport report_;
};

} // namespace

MachineReport examineMachine(Services services) { return Doctor(services).examine(); }

} // namespace kopt
