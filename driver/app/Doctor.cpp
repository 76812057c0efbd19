// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Doctor.h"

#include "driver/device/build/Toolchains.h"
#include "driver/device/capture/ObserveProgram.h"
#include "driver/device/profile/NcuProfiler.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/device/sass/Disassembler.h"
#include "driver/support/FileSystem.h"

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

  void examineCompiler() {
    const auto nvcc = makeNvccToolchain(services_.processes);
    add("nvcc", nvcc.has_value(), nvcc ? (*nvcc)->name() : nvcc.error().what,
        "install the CUDA toolkit, or set KOPT_CUDA_PATH; without it slices cannot be proven and "
        "nothing is measured");
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
    for (const std::string kind : {"cuda", "emulated"}) {
      DeviceConfig device;
      device.kind = kind;
      device.modelGpu = "H200";
      const auto runner =
          startRunner(services_.processes, services_.installation.runner, device, scratch / kind,
                      services_.installation.gpuSpecs, {}, {sandbox, {}});
      add(kind + " device", runner.has_value(),
          runner ? (*runner)->device().name + " " + (*runner)->device().arch : runner.error().what,
          kind == "cuda" ? "without a GPU, tune on the emulated device: its times are modelled"
                         : "");
    }
  }

  void examineCapture() {
    const CaptureSetup capture = findCapture(services_.installation.runner.parent_path());
    add("capture library", !capture.library.empty(), capture.library.string(),
        "build or install kopt as a whole: 'kopt observe' and --run need libkopt-capture.so");
    add("CUPTI", !capture.cupti.empty(),
        capture.cupti.empty() ? "libcupti.so was not found beside a CUDA toolkit"
                              : capture.cupti.front().string(),
        "install CUPTI with the CUDA toolkit, or name its libcupti.so in KOPT_CUPTI; without it "
        "no program is observed");
  }

  void examineProfilers() {
    const auto ncu = findNsightCompute();
    add("Nsight Compute", ncu.has_value(),
        ncu ? ncu->string()
            : "ncu was not found in PATH, beside the CUDA toolkit or in /opt/nvidia",
        "put ncu into PATH for its sections and advice, and for hardware counters where CUPTI has "
        "none");
    const auto disassembler = findDisassembler();
    add("nvdisasm", disassembler.has_value(),
        disassembler ? disassembler->string()
                     : "nvdisasm was not found in NVDISASM_PATH, KOPT_CUDA_PATH, PATH, CUDA_HOME "
                       "or /usr/local/cuda",
        "install it with the CUDA toolkit (package cuda-nvdisasm), or name it in NVDISASM_PATH; "
        "without it the machine code is not read");
  }

  Services &services_;
  MachineReport report_;
};

} // namespace

MachineReport examineMachine(Services services) { return Doctor(services).examine(); }

} // namespace kopt
