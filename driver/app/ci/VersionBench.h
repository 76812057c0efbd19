// SPDX-License-Identifier: Apache-2.0
// Compares two versions of a kernel side by side on one device, in one process.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/integrate/ci/PairedWorkload.h"
#include "driver/judge/JudgeOptions.h"
#include "driver/model/Gate.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace kopt {

struct BenchSettings {
  DeviceConfig device;
  SandboxMode sandbox = SandboxMode::Auto;
  JudgeOptions options; ///< its policy decides which change of time counts
  bool dryRun = false;  ///< no device is opened, and nothing runs
  std::filesystem::path scratch;
  std::vector<std::filesystem::path> readable; ///< files from which the two versions were read
};

class VersionBench {
public:
  /// Opens the device, unless it is a dry run. Fails with Environment.
  static Result<std::unique_ptr<VersionBench>> open(const Services &services,
                                                    BenchSettings settings);
  ~VersionBench();

  /// Empty in a dry run.
  const DeviceInfo &device() const { return device_; }

  /// Fills in verdict, reason, times and notes of the kernel. Equal code with equal launches is not
  /// run; `sameLaunches` tells whether the source launches both in the same way. The first
  /// measurement can only give the verdict `same`; any other verdict, and a failure of the head,
  /// must come from a second one in fresh processes. A problem of a version is data, not a failure.
  /// Fails with Environment, Internal or Interrupted.
  Status compare(const TuneSubject &base, const TuneSubject &head, bool sameLaunches,
                 GateKernel &kernel);

private:
  /// The machine code of a version.
  struct Code {
    BuildOutcome outcome;
    std::string symbol, problem; ///< why there is none
  };
  struct Codes {
    Code base, head;
    bool isSame() const {
      return base.problem.empty() && head.problem.empty() && base.outcome.hash == head.outcome.hash;
    }
  };

  VersionBench(const Services &services, BenchSettings settings)
      : services_(services), settings_(std::move(settings)) {}
  Result<Code> build(Toolchain &toolchain, const TuneSubject &subject);
  Result<Codes> buildBoth(Toolchain &toolchain, const TuneSubject &base, const TuneSubject &head);
  Status measure(const TuneSubject &base, const TuneSubject &head, const Codes &codes,
                 const PairedWorkload &workload, GateKernel &kernel);

  Services services_;
  BenchSettings settings_;
  Sandbox sandbox_;
  CompilerSandbox compilers_;
  std::unique_ptr<Frontend> frontend_;
  OpenDevices devices_; ///< empty in a dry run
  /// If the device uses another compiler, or there is no device; null: there is none.
  std::unique_ptr<Toolchain> nvcc_;
  DeviceInfo device_;
  unsigned builds_ = 0, judges_ = 0;
};

/// The number of fresh processes that confirm an alarm. Each counts once, so the confidence
/// interval depends on their number: 8 can show a loss of 2% if their results differ by up to 0.8%.
inline constexpr std::uint32_t kGateProcesses = 8;

/// Sets the kernel's verdict from a trial of the head's version against the base's.
void takeTrial(const Trial &trial, const VerdictPolicy &policy, GateKernel &kernel);

} // namespace kopt
